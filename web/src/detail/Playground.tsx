import {
  ActionGroup,
  Alert,
  Button,
  Card,
  CardBody,
  CardTitle,
  Checkbox,
  ClipboardCopy,
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
import { urlOf } from "../words/domains";
import { noParams, queryOf, queryText, wrongWith, type Params } from "./params";
import { PictureView } from "./PictureView";

interface Asked {
  path: string;
  query: string;
  /** Counts the tries, so that the same can be asked again. */
  round: number;
}

const remembered = (darkroom: Darkroom) => `darkroom-path ${keyOf(darkroom)}`;

/** Tries what the running Darkroom makes of a picture. */
export function Playground({ darkroom, mayFetch }: { darkroom: Darkroom; mayFetch: boolean }) {
  const [path, setPath] = useState(() => sessionStorage.getItem(remembered(darkroom)) ?? "");
  const [params, setParams] = useState<Params>(noParams);
  const [asked, setAsked] = useState<Asked>();
  const [tried, setTried] = useState(false);
  const wrong = wrongWith(path, params);
  const set = (part: Partial<Params>) => setParams({ ...params, ...part });
  const host = darkroom.status.domains[0];

  const fetchPicture = () => {
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
          <Alert component="p" isInline variant="info" title="You may not fetch pictures here">
            It needs the right to get services/proxy in the namespace {darkroom.namespace}.
          </Alert>
        </GridItem>
      )}
      <GridItem lg={4}>
        <Card>
          <CardTitle component="h2">Picture</CardTitle>
          <CardBody>
            <Form
              onSubmit={(event) => {
                event.preventDefault();
                fetchPicture();
              }}
            >
              <FormGroup label="Path" fieldId="picture-path" isRequired>
                <TextInput
                  id="picture-path"
                  value={path}
                  placeholder="/images/cat.jpg"
                  onChange={(_, value) => setPath(value)}
                  validated={tried && wrong ? "error" : "default"}
                  aria-describedby="picture-path-help"
                  spellCheck={false}
                  autoComplete="off"
                />
                <FormHelperText>
                  <HelperText id="picture-path-help" isLiveRegion>
                    <HelperTextItem variant={tried && wrong ? "error" : "default"}>
                      {tried && wrong ? wrong : "As it lies at the source"}
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
        <Card isFullHeight>
          <CardTitle component="h2">Before and after</CardTitle>
          <CardBody>
            {host && (
              <FormGroup label="URL" fieldId="picture-url" className="dr-url">
                <ClipboardCopy isReadOnly hoverTip="Copy the URL" clickTip="Copied" textAriaLabel="URL of the picture" copyAriaLabel="Copy the URL">
                  {urlOf(darkroom, host) + (path || "/") + queryText(params)}
                </ClipboardCopy>
              </FormGroup>
            )}
            {asked ? (
              <Grid hasGutter className="dr-pictures">
                <GridItem md={6}>
                  <PictureView of={darkroom} path={asked.path} query="" round={asked.round} title="Before" />
                </GridItem>
                <GridItem md={6}>
                  <PictureView of={darkroom} path={asked.path} query={asked.query} round={asked.round} title="After" />
                </GridItem>
              </Grid>
            ) : (
              <p className="dr-quiet dr-pictures">Name a picture, say what is to be done with it, and fetch it.</p>
            )}
          </CardBody>
        </Card>
      </GridItem>
    </Grid>
  );
}

const crops = ["top", "bottom", "left", "right", "top,left", "top,right", "bottom,left", "bottom,right"];

function ParamFields({ params, set }: { params: Params; set: (part: Partial<Params>) => void }) {
  const sized = params.w !== "" && params.h !== "";
  const number = (name: "w" | "h" | "blur" | "rot", label: string, most: number, step = 1) => (
    <FormGroup label={label} fieldId={`picture-${name}`}>
      <TextInput id={`picture-${name}`} type="number" min={0} max={most} step={step} value={params[name]} onChange={(_, value) => set({ [name]: value })} />
    </FormGroup>
  );
  return (
    <>
      <div className="dr-pair dr-pair--tight">
        {number("w", "Width", 2000)}
        {number("h", "Height", 2000)}
      </div>
      <div className="dr-pair dr-pair--tight">
        <FormGroup label="Fit" fieldId="picture-fit">
          <FormSelect id="picture-fit" value={params.fit} isDisabled={!sized} onChange={(_, fit) => set({ fit: fit as Params["fit"] })}>
            <FormSelectOption value="" label="inside" />
            <FormSelectOption value="crop" label="crop" />
            <FormSelectOption value="scale" label="stretch" />
          </FormSelect>
        </FormGroup>
        <FormGroup label="Keep" fieldId="picture-crop">
          <FormSelect id="picture-crop" value={params.crop} isDisabled={!sized || params.fit !== "crop"} onChange={(_, crop) => set({ crop })}>
            <FormSelectOption value="" label="the middle" />
            {crops.map((crop) => (
              <FormSelectOption key={crop} value={crop} label={crop.replace(",", " ")} />
            ))}
          </FormSelect>
        </FormGroup>
      </div>
      <div className="dr-pair dr-pair--tight">
        <FormGroup label="Flip" fieldId="picture-flip">
          <FormSelect id="picture-flip" value={params.flip} onChange={(_, flip) => set({ flip: flip as Params["flip"] })}>
            <FormSelectOption value="" label="not" />
            <FormSelectOption value="h" label="left to right" />
            <FormSelectOption value="v" label="upside down" />
            <FormSelectOption value="vh" label="both" />
          </FormSelect>
        </FormGroup>
        {number("rot", "Rotate (degrees)", 359)}
        {number("blur", "Blur", 100, 0.5)}
      </div>
      <FormGroup role="group" label="Also" fieldId="picture-also" isInline>
        <Checkbox id="picture-mono" label="Grey" isChecked={params.mono} onChange={(_, mono) => set({ mono })} />
        <Checkbox id="picture-compress" label="Compress" isChecked={params.compress} onChange={(_, compress) => set({ compress })} />
        <Checkbox id="picture-format" label="Best format" isChecked={params.format} onChange={(_, format) => set({ format })} />
      </FormGroup>
    </>
  );
}
