/** Packs the package and has publint and are-the-types-wrong look at the tarball. Nothing is fetched. */
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

const root = fileURLToPath(new URL("..", import.meta.url))

// The package is ESM only: a CommonJS resolver finds no entry, by design.
const isExpected = (problem: Problem): boolean =>
  problem.kind === "CJSResolvesToESM" || ("resolutionKind" in problem && problem.resolutionKind === "node10")

const pack = (folder: string): Uint8Array => {
  const told = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, encoding: "utf8" })
  return new Uint8Array(readFileSync(join(folder, told.trim().split("\n").at(-1) ?? "")))
}

const complaintsOf = async (tarball: Uint8Array): Promise<ReadonlyArray<string>> => {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: tarball.slice().buffer } })
  const types = await checkPackage(createPackageFromTarballData(tarball))
  const problems = types.types === false ? ["there are no types"] : types.problems.filter((found) => !isExpected(found))
  return [
    ...messages.map((message) => formatMessage(message, pkg) ?? message.code),
    ...problems.map((found) => JSON.stringify(found))
  ]
}

const folder = mkdtempSync(join(tmpdir(), "fathom-pack-"))
try {
  const complaints = await complaintsOf(pack(folder))
  process.stdout.write(complaints.length === 0 ? "The package is sound.\n" : `${complaints.join("\n")}\n`)
  process.exitCode = complaints.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
