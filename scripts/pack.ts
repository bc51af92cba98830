/** Builds `dist/`: what a package holds, because Node strips no types under `node_modules`. Run by `npm pack`. */
import { execFileSync } from "node:child_process"
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const dist = pathOf("../dist")

// The bundle may be running, and no package holds it.
for (const path of globSync("*", { cwd: dist, exclude: ["service"] })) {
  rmSync(join(dist, path), { recursive: true })
}
execFileSync(pathOf("../node_modules/.bin/tsc"), ["-p", pathOf("config/tsconfig.build.json")], { stdio: "inherit" })
execFileSync(process.execPath, [pathOf("web.mjs")], { stdio: "inherit" })
for (const file of ["api/openapi.json", "api/asyncapi.json", "chain/geyser/geyser.proto"]) {
  copyFileSync(pathOf(`../src/${file}`), join(dist, file))
}

// Threads are started from the address of a module, which the compiler leaves as it is written.
for (const file of globSync("**/*.js", { cwd: dist, exclude: ["service/**"] })) {
  const path = join(dist, file)
  const text = readFileSync(path, "utf8")
  const built = text.replaceAll(/new URL\("(\.[^"]*)\.ts", import\.meta\.url\)/gu, 'new URL("$1.js", import.meta.url)')
  if (built !== text) {
    writeFileSync(path, built)
  }
}
