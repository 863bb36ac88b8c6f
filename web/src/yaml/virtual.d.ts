/** The schema of spec in the CRD; vite.config.ts reads it. */
declare module "virtual:darkroom-spec" {
  const spec: import("./schema").Schema;
  export default spec;
}
