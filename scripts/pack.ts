/** Builds `dist/`: what a package holds, because Node strips no types under `node_modules`. Run by `npm pack`. */
import { execFileSync } from "node:child_process"
import { copyFileSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

rmSync(pathOf("../dist"), { recursive: true, force: true })
execFileSync(pathOf("../node_modules/.bin/tsc"), ["-p", pathOf("config/tsconfig.build.json")], { stdio: "inherit" })
copyFileSync(pathOf("../src/api/openapi.json"), pathOf("../dist/api/openapi.json"))
