import { Alert, Button, Card, CardBody, CardTitle, Checkbox, Form, FormGroup, FormSelect, FormSelectOption, Grid, GridItem } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { attempt } from "../attempt";
import { keyOf, type Darkroom } from "../api/types";
import { ofUser } from "../form/drafts";
import { Folded } from "../layout/Folded";
import { MissingRight } from "../layout/MissingRight";
import { PlainField } from "../layout/PlainField";
import { useSettled } from "../useSettled";
import { ImageLink } from "./ImageLink";
import { ImageView, useImage } from "./ImageView";
import { choiceOf, type Size } from "./srcset";
import { Responsive } from "./Responsive";
import { noParams, presets, queryOf, queryText, savedBy, wrongWith, type Params } from "./params";

/** The delay after typing before the image is requested, in milliseconds. */
const rest = 300;

const remembered = (darkroom: Darkroom) => ofUser(`path ${keyOf(darkroom)}`);

/** An image of the running Darkroom, before and after the parameters are applied. */
export function Playground({ darkroom, mayFetch }: { darkroom: Darkroom; mayFetch: boolean }) {
  const [path, setPath] = useState(() => attempt(() => sessionStorage.getItem(remembered(darkroom))) ?? darkroom.probe?.path ?? "");
  const [params, setParams] = useState<Params>(presets.Card);
  const asked = useSettled(path, rest);
  const query = useSettled(queryOf(params).toString(), rest);
  const wrong = wrongWith(path);
  /** The size of the original at a path, once it is loaded. */
  const [original, setOriginal] = useState<Size & { path: string }>();
  const choice = original?.path === path ? choiceOf(params, original) : undefined;
  useEffect(() => attempt(() => sessionStorage.setItem(remembered(darkroom), asked)), [darkroom, asked]);
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
            <Form onSubmit={(event) => event.preventDefault()}>
              <PlainField
                id="image-path"
                label="Path"
                isRequired
                value={path}
                placeholder="/images/cat.jpg"
                isWrong={path !== "" && wrong !== undefined}
                hint={path !== "" && wrong ? wrong : "Path of the image at the source"}
                onChange={setPath}
              />
              <div className="dr-row" role="group" aria-label="Presets">
                {Object.entries(presets).map(([name, preset]) => (
                  <Button key={name} variant="tertiary" size="sm" onClick={() => setParams(preset)}>
                    {name}
                  </Button>
                ))}
                <Button variant="link" size="sm" onClick={() => setParams(noParams)}>
                  Reset
                </Button>
              </div>
              <ParamFields params={params} hasGate={darkroom.gate !== undefined} set={(part) => setParams({ ...params, ...part })} />
            </Form>
          </CardBody>
        </Card>
      </GridItem>
      <GridItem lg={8}>
        <Card id="card-images" isFullHeight>
          <CardTitle component="h2">Before and after</CardTitle>
          <CardBody className="dr-stack">
            {wrong ? (
              <p className="dr-quiet">Enter the path of an image.</p>
            ) : (
              <ImageLink darkroom={darkroom} path={path} query={queryText(params)} choice={choice} />
            )}
            {mayFetch && choice && query === queryOf(params).toString() && (
              <Folded title="Measure a responsive image">
                <Responsive darkroom={darkroom} path={path} params={params} choice={choice} />
              </Folded>
            )}
            {mayFetch && !wrongWith(asked) && <BeforeAndAfter darkroom={darkroom} path={asked} query={query} onSize={(size) => setOriginal({ path: asked, ...size })} />}
          </CardBody>
        </Card>
      </GridItem>
    </Grid>
  );
}

function BeforeAndAfter({ darkroom, path, query, onSize }: { darkroom: Darkroom; path: string; query: string; onSize: (original: Size) => void }) {
  const before = useImage(darkroom, path, "");
  const after = useImage(darkroom, path, query);
  return (
    <>
      {before.value && after.value && <Alert component="p" isInline isPlain variant="info" title={savedBy(before.value.blob.size, after.value.blob.size)} />}
      <Grid hasGutter>
        <GridItem md={6}>
          <ImageView image={before} namespace={darkroom.namespace} title="Before" alt={`${path}, original`} onSize={onSize} />
        </GridItem>
        <GridItem md={6}>
          <ImageView image={after} namespace={darkroom.namespace} title="After" alt={`${path}, result`} />
        </GridItem>
      </Grid>
    </>
  );
}

/** The values of the enumerated parameters, in words. */
const fits = { "": "inside", crop: "crop", scale: "stretch" };
const flips = { "": "none", h: "horizontal", v: "vertical", vh: "both" };
const crops = {
  "": "center",
  top: "top",
  bottom: "bottom",
  left: "left",
  right: "right",
  "top,left": "top left",
  "top,right": "top right",
  "bottom,left": "bottom left",
  "bottom,right": "bottom right",
};

function ParamFields({ params, hasGate, set }: { params: Params; hasGate: boolean; set: (part: Partial<Params>) => void }) {
  const sized = params.w !== "" && params.h !== "";
  const slider = (name: "w" | "h" | "blur" | "rot", label: string, most: number, step = 1) => (
    <FormGroup label={`${label}: ${params[name] === "" ? "off" : params[name]}`} fieldId={`image-${name}`}>
      <input
        id={`image-${name}`}
        className="dr-slider"
        type="range"
        min={0}
        max={most}
        step={step}
        value={params[name] === "" ? 0 : params[name]}
        onChange={({ target }) => set({ [name]: target.value === "0" ? "" : target.value })}
      />
    </FormGroup>
  );
  const choice = (name: "fit" | "crop" | "flip", label: string, values: Record<string, string>, isDisabled = false) => (
    <FormGroup label={label} fieldId={`image-${name}`}>
      <FormSelect id={`image-${name}`} value={params[name]} isDisabled={isDisabled} onChange={(_, chosen) => set({ [name]: chosen })}>
        {Object.entries(values).map(([value, words]) => (
          <FormSelectOption key={value} value={value} label={words} />
        ))}
      </FormSelect>
    </FormGroup>
  );
  return (
    <>
      <div className="dr-pair dr-pair--tight">
        {slider("w", "Width", 2000, 10)}
        {slider("h", "Height", 2000, 10)}
      </div>
      <div className="dr-pair dr-pair--tight">
        {choice("fit", "Fit", fits, !sized)}
        {choice("crop", "Crop anchor", crops, !sized || params.fit !== "crop")}
      </div>
      <div className="dr-pair dr-pair--tight">
        {choice("flip", "Flip", flips)}
        {slider("rot", "Rotation", 359)}
        {slider("blur", "Blur", 20, 0.5)}
      </div>
      <FormGroup role="group" label="Options" fieldId="image-also" isInline>
        <Checkbox id="image-mono" label="Grayscale" isChecked={params.mono} onChange={(_, mono) => set({ mono })} />
        <Checkbox id="image-compress" label="Compress" isChecked={params.compress} onChange={(_, compress) => set({ compress })} />
        {hasGate && <Checkbox id="image-webp" label="WebP for browsers that accept it" isChecked={params.webp} onChange={(_, webp) => set({ webp })} />}
      </FormGroup>
    </>
  );
}
