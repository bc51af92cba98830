/** Builds `dist/`: what a package holds, because Node strips no types under `node_modules`. Run by `npm pack`. */
import { execFileSync } from "node:child_process"
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const dist = pathOf("../dist")

rmSync(dist, { recursive: true, force: true })
execFileSync(pathOf("../node_modules/.bin/tsc"), ["-p", pathOf("config/tsconfig.build.json")], { stdio: "inherit" })
execFileSync(process.execPath, [pathOf("web.mjs")], { stdio: "inherit" })
copyFileSync(pathOf("../src/api/openapi.json"), join(dist, "api/openapi.json"))
copyFileSync(pathOf("../src/solana/geyser/geyser.proto"), join(dist, "solana/geyser/geyser.proto"))

// Threads are started from the address of a module, which the compiler leaves as it is written.
for (const file of globSync("**/*.js", { cwd: dist })) {
  const path = join(dist, file)
  const text = readFileSync(path, "utf8")
  const built = text.replaceAll(/new URL\("(\.[^"]*)\.ts", import\.meta\.url\)/gu, 'new URL("$1.js", import.meta.url)')
  if (built !== text) {
    writeFileSync(path, built)
  }
}
