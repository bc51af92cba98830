/** Pool states with the answers of the real programs. They are in the repository, so that every checkout has them. */
import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { check } from "../../scripts/exactness/check.ts"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"

const files = globSync(fileURLToPath(new URL("../vectors/pools/*.json", import.meta.url))).toSorted()

/** The mode in a file name: `dlmm-22-3-ft20.json` is `dlmm-ft20`. */
const modeOf = (path: string): string => basename(path, ".json").replace(/-\d+-\d+/u, "")

describe("pools executed by the real programs", () => {
  it.each(files.map((path) => [basename(path), path] as const))("are quoted to the unit: %s", (_, path) => {
    const notes: Array<string> = []
    const tally = check(readFixture(path), (line) => notes.push(line))
    assert.isAbove(tally.cases, 0)
    assert.deepStrictEqual(notes, [])
    assert.strictEqual(tally.exact, tally.cases)
    assert.strictEqual(tally.errorsWrong, 0)
  })

  it("cover every fee mode of Whirlpool, DLMM and DAMM v2, and dust sold at the start of a DBC curve", () => {
    const modes = new Set(files.map(modeOf))
    const dammV2 = ["00", "01", "02", "12", "20", "21", "22", "30", "31", "32", "40", "42"].map(
      (mode) => `dammv2-m${mode}`
    )
    const dlmm = ["00", "01", "10", "11", "20", "21"].map((mode) => `dlmm-ft${mode}`)
    assert.deepStrictEqual(Array.from(modes).toSorted(), [
      "cpmm",
      ...dammV2,
      "dbc-m10",
      "dbc-m21d",
      ...dlmm,
      "dlmm-unpriced",
      "whirlpool-adaptive",
      "whirlpool-static"
    ])
  })
})
