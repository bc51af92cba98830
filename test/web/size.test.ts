import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

const folder = fileURLToPath(new URL("../../dist/web/", import.meta.url))
const LIMIT = 150_000

const textOf = (name: string): string => readFileSync(`${folder}assets/${name}`, "utf8")

/** Files that a file of the build loads at once. Pages that load lazily are not among them. */
const loadedBy = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/gu), ([, name = ""]) => name)

const withImports = (first: ReadonlyArray<string>): ReadonlySet<string> => {
  const files = new Set(first)
  // Iterating a set also visits entries added meanwhile.
  for (const name of files) {
    loadedBy(textOf(name)).forEach((each) => files.add(each))
  }
  return files
}

it("the first page loads less than 150 kB compressed, and no chart", () => {
  const page = readFileSync(`${folder}index.html`, "utf8")
  const linked = Array.from(page.matchAll(/(?:src|href)="\/assets\/([^"]+)"/gu), ([, name = ""]) => name)
  const market = globSync(`${folder}assets/{Market-*.js,*.css}`).map((path) => basename(path))
  const files = withImports([...linked, ...market])
  assert.isAbove(files.size, 3)
  const bytes = Array.from(files, (name) => gzipSync(textOf(name)).length).reduce((sum, each) => sum + each, 0)
  assert.isBelow(bytes, LIMIT)
  assert.isFalse(Array.from(files).some((name) => textOf(name).includes("lightweight-charts")))
})
