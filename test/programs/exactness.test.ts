import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { check } from "../../scripts/exactness/check.ts"
import { parseFixture, readFixture } from "../../src/quotes/execution/poolFixture.ts"
import { discriminator, makeAccount } from "../../src/quotes/execution/makeAccount.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { Address } from "../../src/domain/Address.ts"

const recorded = fileURLToPath(new URL("../../../shared/data/amm/", import.meta.url))
const here = existsSync(recorded)
const files = globSync(join(recorded, "{raydium-v4,raydium-cpmm,pumpswap,pumpfun}-*.json")).toSorted()

const quiet = () => {}

describe.skipIf(!here)(`swaps recorded from the programs${here ? "" : ` (skipped: no ${recorded})`}`, () => {
  it.each(files.map((path) => [basename(path), path] as const))("are quoted to the unit: %s", (_, path) => {
    const notes: Array<string> = []
    const { cases, errorsWrong, exact, skipped, wrong } = check(readFixture(path), (line) => notes.push(line))
    assert.isAbove(cases, 0)
    assert.deepStrictEqual(
      { exact: exact + skipped, wrong, errorsWrong, notes },
      { exact: cases, wrong: 0, errorsWrong: 0, notes: [] }
    )
  })

  it("exist for every program", () => {
    assert.isAtLeast(files.length, 7)
  })
})

const encoded = ({ address, data, owner }: OnChainAccount) => ({
  pubkey: address,
  owner,
  dataBase64: Buffer.from(data).toString("base64")
})

/** A curve of 2025-01 as a recording, with what its program did. */
const recording = (cases: ReadonlyArray<object>, errors: ReadonlyArray<object> = []) => {
  const programId = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
  const global = makeAccount(Address.make("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf"), programId, 113, [
    [0, discriminator("a7e8e8b1c86c727f")],
    [105, 100n]
  ])
  const curve = makeAccount(Address.make("TBHe5tJnuT4CQbHorJ1uVdfUoaYGPKgfCpiv2jgesVN"), programId, 49, [
    [0, discriminator("17b7f83760d8ac60")],
    [8, 451_887_348_418_477n],
    [16, 71_234_567_891n],
    [24, 171_987_348_418_477n],
    [32, 41_234_567_891n],
    [40, 1_000_000_000_000_000n]
  ])
  return parseFixture({
    dex: "pump-fun-curve",
    programId,
    accounts: [global, curve].map(encoded),
    case: cases,
    errors
  })
}

describe("check", () => {
  const inputMint = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
  const sale = { inputMint, amountIn: "35000000007", expectedOut: "5461730" }

  it("counts exact cases of both kinds of trade", () => {
    const purchase = {
      kind: "exactOut",
      inputMint: "So11111111111111111111111111111111111111112",
      amountOut: "1000003",
      expectedIn: 159
    }
    const { cases, exact, wrong } = check(recording([sale, purchase]), quiet)
    assert.deepStrictEqual({ cases, exact, wrong }, { cases: 2, exact: 2, wrong: 0 })
  })

  it("reports a quote that is off by one", () => {
    const notes: Array<string> = []
    const tally = check(recording([{ ...sale, expectedOut: "5461731" }]), (line) => notes.push(line))
    assert.strictEqual(tally.wrong, 1)
    assert.include(notes[0] ?? "", "5461730")
  })

  it("sets aside cases with another rounding", () => {
    const tally = check(recording([{ ...sale, expectedOut: "1", oldRounding: true }]), quiet)
    assert.deepStrictEqual([tally.skipped, tally.wrong], [1, 0])
  })

  it("counts a mint of no pool as refused", () => {
    const tally = check(recording([{ ...sale, inputMint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" }]), quiet)
    assert.strictEqual(tally.refused, 1)
  })

  it("counts it as wrong when the engine fills what the program refused", () => {
    const tooMuch = { side: "sell", x: "900000000000001" }
    const tally = check(recording([], [tooMuch, { inputMint, amountIn: "35000000007" }]), quiet)
    assert.deepStrictEqual([tally.errorsRefused, tally.errorsWrong], [1, 1])
  })
})
