import {
  ActionGroup,
  Button,
  Card,
  CardBody,
  CardTitle,
  Checkbox,
  Form,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  Grid,
  GridItem,
  HelperText,
  HelperTextItem,
  TextInput,
} from "@patternfly/react-core";
import { useState } from "react";
import { keyOf, type Darkroom } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { noParams, queryOf, queryText, wrongWith, type Params } from "./params";
import { ImageView } from "./ImageView";
import { Snippets } from "./Snippets";

interface Asked {
  path: string;
  query: string;
  /** Counts requests, so that the same image can be fetched again. */
  round: number;
}

const remembered = (darkroom: Darkroom) => `darkroom-path ${keyOf(darkroom)}`;

/** Fetches an image through the running Darkroom: the original and the result. */
export function Playground({ darkroom, mayFetch }: { darkroom: Darkroom; mayFetch: boolean }) {
  const [path, setPath] = useState(() => sessionStorage.getItem(remembered(darkroom)) ?? darkroom.probe?.path ?? "");
  const [params, setParams] = useState<Params>(noParams);
  const [asked, setAsked] = useState<Asked>();
  const [tried, setTried] = useState(false);
  const wrong = wrongWith(path, params);
  const set = (part: Partial<Params>) => setParams({ ...params, ...part });

  const fetchImage = () => {
    setTried(true);
    if (!wrong) {
      sessionStorage.setItem(remembered(darkroom), path);
      setAsked({ path, query: queryOf(params).toString(), round: (asked?.round ?? 0) + 1 });
    }
  };
  return (
    <Grid hasGutter>
      {!mayFetch && (
        <GridItem>
          <MissingRight to="image" namespace={darkroom.namespace} />
        </GridItem>
      )}
      <GridItem lg={4}>
        <Card id="card-parameters">
          <CardTitle component="h2">Image</CardTitle>
          <CardBody>
            <Form
              onSubmit={(event) => {
                event.preventDefault();
                fetchImage();
              }}
            >
              <FormGroup label="Path" fieldId="image-path" isRequired>
                <TextInput
                  id="image-path"
                  value={path}
                  placeholder="/images/cat.jpg"
                  onChange={(_, value) => setPath(value)}
                  validated={tried && wrong ? "error" : "default"}
                  aria-describedby="image-path-help"
                  spellCheck={false}
                  autoComplete="off"
                />
                <FormHelperText>
                  <HelperText id="image-path-help" isLiveRegion>
                    <HelperTextItem variant={tried && wrong ? "error" : "default"}>
                      {tried && wrong ? wrong : "Path of the image at the source"}
                    </HelperTextItem>
                  </HelperText>
                </FormHelperText>
              </FormGroup>
              <ParamFields params={params} set={set} />
              <ActionGroup>
                <Button type="submit" isAriaDisabled={!mayFetch}>
                  Fetch
                </Button>
                <Button variant="link" onClick={() => setParams(noParams)}>
                  Reset
                </Button>
              </ActionGroup>
            </Form>
          </CardBody>
        </Card>
      </GridItem>
      <GridItem lg={8}>
        <Card id="card-images" isFullHeight>
          <CardTitle component="h2">Original and result</CardTitle>
          <CardBody>
            <Snippets darkroom={darkroom} path={path} query={queryText(params)} />
            {asked ? (
              <Grid hasGutter className="dr-images">
                <GridItem md={6}>
                  <ImageView of={darkroom} path={asked.path} query="" round={asked.round} kind="original" />
                </GridItem>
                <GridItem md={6}>
                  <ImageView of={darkroom} path={asked.path} query={asked.query} round={asked.round} kind="result" />
                </GridItem>
              </Grid>
            ) : (
              <p className="dr-quiet dr-images">Enter a path, choose the changes, and fetch the image.</p>
            )}
          </CardBody>
        </Card>
      </GridItem>
    </Grid>
  );
}

/** Anchors of a crop, by their values in URLs. */
const crops = {
  top: "top",
  bottom: "bottom",
  left: "left",
  right: "right",
  "top,left": "top left",
  "top,right": "top right",
  "bottom,left": "bottom left",
  "bottom,right": "bottom right",
};

function ParamFields({ params, set }: { params: Params; set: (part: Partial<Params>) => void }) {
  const sized = params.w !== "" && params.h !== "";
  const number = (name: "w" | "h" | "blur" | "rot", label: string, most: number, step = 1) => (
    <FormGroup label={label} fieldId={`image-${name}`}>
      <TextInput id={`image-${name}`} type="number" min={0} max={most} step={step} value={params[name]} onChange={(_, value) => set({ [name]: value })} />
    </FormGroup>
  );
  return (
    <>
      <div className="dr-pair dr-pair--tight">
        {number("w", "Width", 2000)}
        {number("h", "Height", 2000)}
      </div>
      <div className="dr-pair dr-pair--tight">
        <FormGroup label="Fit" fieldId="image-fit">
          <FormSelect id="image-fit" value={params.fit} isDisabled={!sized} onChange={(_, fit) => set({ fit: fit as Params["fit"] })}>
            <FormSelectOption value="" label="inside" />
            <FormSelectOption value="crop" label="crop" />
            <FormSelectOption value="scale" label="stretch" />
          </FormSelect>
        </FormGroup>
        <FormGroup label="Crop anchor" fieldId="image-crop">
          <FormSelect id="image-crop" value={params.crop} isDisabled={!sized || params.fit !== "crop"} onChange={(_, crop) => set({ crop })}>
            <FormSelectOption value="" label="center" />
            {Object.entries(crops).map(([crop, words]) => (
              <FormSelectOption key={crop} value={crop} label={words} />
            ))}
          </FormSelect>
        </FormGroup>
      </div>
      <div className="dr-pair dr-pair--tight">
        <FormGroup label="Flip" fieldId="image-flip">
          <FormSelect id="image-flip" value={params.flip} onChange={(_, flip) => set({ flip: flip as Params["flip"] })}>
            <FormSelectOption value="" label="none" />
            <FormSelectOption value="h" label="horizontal" />
            <FormSelectOption value="v" label="vertical" />
            <FormSelectOption value="vh" label="both" />
          </FormSelect>
        </FormGroup>
        {number("rot", "Rotate (degrees)", 359)}
        {number("blur", "Blur", 100, 0.5)}
      </div>
      <FormGroup role="group" label="Options" fieldId="image-also" isInline>
        <Checkbox id="image-mono" label="Grayscale" isChecked={params.mono} onChange={(_, mono) => set({ mono })} />
        <Checkbox id="image-compress" label="Compress" isChecked={params.compress} onChange={(_, compress) => set({ compress })} />
      </FormGroup>
    </>
  );
}
