// Prints the licenses and notices of the packages that the page is made of, for the operator's image:
// `node notices.mjs FOLDER`, that of the page.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

process.chdir(process.argv[2]);
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
console.log("The web page contains the following packages.");
for (const [folder, { version, dev, optional, license }] of Object.entries(packages)) {
  if (folder === "" || dev || optional) {
    continue;
  }
  const name = folder.split("node_modules/").pop();
  console.log(`\n==== ${name} ${version}: ${license}\n`);
  for (const file of readdirSync(folder).filter((file) => /^(licen[sc]e|copying|notice)/i.test(file)).sort()) {
    console.log(readFileSync(join(folder, file), "utf8"));
  }
}
