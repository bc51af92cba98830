import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { flagText, numberIn } from "../../scripts/options.ts"

const run = (script: string, ...options: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [`scripts/${script}`, ...options], { encoding: "utf8", timeout: 30_000 })

describe("numbers of commands", () => {
  it("are above zero unless another bound is given", () => {
    assert.deepStrictEqual(
      ["1", "0.5", "0", "-1", "", " ", "five", "Infinity", "1e400", "0x10"].map((text) => numberIn(text)),
      [1, 0.5, null, null, null, null, null, null, null, 16]
    )
    assert.deepStrictEqual(
      ["0", "1", "1.5", "2"].map((text) => numberIn(text, { least: 0, most: 1 })),
      [0, 1, null, null]
    )
    assert.deepStrictEqual(
      ["1", "1.5"].map((text) => numberIn(text, { whole: true })),
      [1, null]
    )
  })

  it("end a command before it begins when they are wrong", () => {
    const given = ["--rpc", "http://127.0.0.1:1", "--api", "http://127.0.0.1:1", "--key", "none"]
    const { status, stderr } = run("holdingsCheck.ts", ...given, "--every", "0")
    assert.deepStrictEqual([status, stderr], [2, '--every must be a number above 0, not "0"\n'])
    const history = run("recompute.ts", ...given, "--mints", "1.5")
    assert.deepStrictEqual([history.status, history.stderr], [2, '--mints must be a whole number above 0, not "1.5"\n'])
  })
})

describe("flags of a command line", () => {
  it("have their value after a space or an equals sign", () => {
    const args = ["node", "bench.ts", "--rate", "7", "--hours=5", "--json", "--left"]
    assert.deepStrictEqual(
      ["rate", "hours", "json", "left", "hour"].map((name) => flagText(args, name)),
      ["7", "5", undefined, undefined, undefined]
    )
    assert.strictEqual(flagText(["--hours="], "hours"), "")
  })
})
