/** Recorded pools for tests. They are outside the project, so tests that need them are skipped when they are absent. */
import { existsSync, globSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"

const folder = fileURLToPath(new URL("../../../shared/data/amm/", import.meta.url))

/** True when the folder of recorded pools exists. */
export const hasRecordings = existsSync(folder)

/** Every recording whose file name starts with the prefix, by that name. */
export const recordings = (prefix: string) =>
  globSync(`${folder}${prefix}*.json`)
    .toSorted()
    .map((path) => ({ name: basename(path, ".json"), fixture: readFixture(path) }))
