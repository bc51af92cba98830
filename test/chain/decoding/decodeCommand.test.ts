import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { encoded, named, TRADER, transfer } from "./transactions.ts"
import { holdings, program, raydiumSwap } from "./twoPools.ts"

const script = fileURLToPath(new URL("../../../scripts/decode.ts", import.meta.url))

const run = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" })
  return { status, stderr, stdout }
}

const answer = encoded({
  signers: [TRADER],
  calls: [
    raydiumSwap("my sol", TRADER, "my token", 200n, 50n),
    transfer(named("my sol"), named("router sol"), TRADER, 2n),
    program(named("bot"), [TRADER], "00", [transfer(named("b token"), named("my token"), named("pool b"), 7n)])
  ],
  holdings
})

const folder = mkdtempSync(join(tmpdir(), "decode-"))
const save = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

describe("npm run decode", () => {
  it("prints legs, net trades, fees and what is left out, for a bare answer and for one under `transaction`", () => {
    const files = [save("bare.json", answer), save("under.json", { note: "", transaction: answer })]
    const { status, stdout } = run(...files, "--json")
    assert.strictEqual(status, 0)
    const values: ReadonlyArray<Record<string, ReadonlyArray<Record<string, unknown>>>> = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      values.map(({ file }) => String(file)),
      files
    )
    for (const { leftOut, legs, nets } of values) {
      assert.deepStrictEqual(
        [legs?.[0]?.["quotable"], nets?.length, leftOut?.map(({ outer, reason }) => [outer, reason])],
        [true, 1, [[2, "one-sided"]]]
      )
      assert.include(JSON.stringify(nets?.[0]?.["fees"]), '"kind":"front-end"')
    }
  })

  it("prints readable lines without --json", () => {
    const { stdout } = run(save("bare.json", answer))
    assert.match(stdout, /leg 0 +#0 .* buy 0\.00005 .* for 0\.0000002 .* on raydium-amm-v4/u)
    assert.match(stdout, /fee +#1 front-end/u)
    assert.match(stdout, /left out +#2 .* one-sided/u)
  })

  it("names a file that it cannot read, decodes the others and exits with 1", () => {
    const { status, stderr, stdout } = run(save("not.json", { slot: 1 }), save("bare.json", answer))
    assert.strictEqual(status, 1)
    assert.match(stderr, /not\.json: not a transaction/u)
    assert.match(stdout, /leg 0/u)
  })
})
