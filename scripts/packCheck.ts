/** Packs the package and has publint and are-the-types-wrong look at the tarball. Nothing is fetched. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { packageFaults } from "./release/packageFaults.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const pack = (folder: string): Uint8Array => {
  const told = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, encoding: "utf8" })
  return new Uint8Array(readFileSync(join(folder, told.trim().split("\n").at(-1) ?? "")))
}

const folder = mkdtempSync(join(tmpdir(), "fathom-pack-"))
try {
  const complaints = await packageFaults(pack(folder))
  process.stdout.write(complaints.length === 0 ? "The package is sound.\n" : `${complaints.join("\n")}\n`)
  process.exitCode = complaints.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
