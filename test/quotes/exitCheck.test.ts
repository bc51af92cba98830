import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SOL } from "../../src/domain/Address.ts"
import { ExitCheck, type Position, type Rung } from "../../src/api/schemas/ExitCheck.ts"
import type { SpotQuote } from "../../src/api/schemas/Quote.ts"
import { areMixed, exitCheck, largestClean, verdictOf } from "../../src/quotes/exitCheck.ts"
import { at } from "./toyChain.ts"

const TOKEN = at(10)

const position = (ladder: ReadonlyArray<number>, amount = 1_000_000n): Position => ({
  mint: TOKEN,
  quoteMint: SOL,
  amount,
  decimals: 6,
  quoteDecimals: 9,
  slippageBps: 100,
  ladder: ladder.map((fraction) => ({ fraction, amount: (amount * BigInt(fraction * 1000)) / 1000n }))
})

const quoteOf = (outAmount: bigint, fields: Partial<SpotQuote> = {}): SpotQuote => ({
  inputMint: TOKEN,
  outputMint: SOL,
  inAmount: 1n,
  outAmount,
  minOutAmount: outAmount,
  slippageBps: 100,
  impactMeasurable: false,
  clamped: false,
  route: [],
  venues: ["toy"],
  engine: "svc_native_cache",
  priceImpactPct: null,
  contextSlot: 100,
  engineTimeMs: 0,
  swapUsdValue: null,
  requestId: "id",
  quotedAtMs: 0,
  stateSlot: 100,
  stateAgeMs: 0,
  feeBasis: "net",
  ...fields
})

const check = (ladder: ReadonlyArray<number>, quotes: ReadonlyArray<SpotQuote | null>) =>
  exitCheck(position(ladder), quotes)

const codes = ({ summary }: ExitCheck) => summary.warnings.map((warning) => warning.split(":")[0])

const verdictAt = (out: bigint) => check([0.01, 1], [quoteOf(10_000_000n), quoteOf(out)]).summary.verdict

const codesOfFirst = (fraction: number, priceImpactPct: number | null) =>
  codes(check([fraction, 1], [quoteOf(10n ** 9n, { priceImpactPct }), quoteOf(10n ** 12n)]))

const codesAtSlot = (last: number) =>
  codes(check([0.01, 1], [quoteOf(10_000n), quoteOf(1_000_000n, { stateSlot: last })]))

describe("exitCheck", () => {
  it("reports every field of a clean exit", () => {
    const [small, full] = [quoteOf(10_000_000n), quoteOf(990_000_000n, { priceImpactPct: 1.1, venues: ["deep"] })]
    const report = check([0.01, 1], [small, full])
    assert.deepStrictEqual(report, {
      mint: TOKEN,
      quoteMint: SOL,
      amount: 1_000_000n,
      uiAmount: 1,
      decimals: 6,
      quoteDecimals: 9,
      slippageBps: 100,
      ladder: [0.01, 1],
      summary: {
        verdict: "clean",
        venues: ["toy", "deep"],
        warnings: [],
        fullExitImpactPct: 1,
        fullExitPrice: 0.99,
        fullExitOutAmount: 990_000_000n,
        fullExitOutUiAmount: 0.99,
        maxCleanFraction: 1,
        maxCleanUiAmount: 1
      },
      rungs: [
        {
          fraction: 0.01,
          amount: 10_000n,
          isBaseline: true,
          uiAmount: 0.01,
          quote: small,
          error: null,
          outAmount: 10_000_000n,
          outUiAmount: 0.01,
          realizedPrice: 1,
          realizedImpactPct: 0,
          upstreamImpactPct: null
        },
        {
          fraction: 1,
          amount: 1_000_000n,
          isBaseline: false,
          uiAmount: 1,
          quote: full,
          error: null,
          outAmount: 990_000_000n,
          outUiAmount: 0.99,
          realizedPrice: 0.99,
          realizedImpactPct: 1,
          upstreamImpactPct: 1.1
        }
      ],
      units: report.units
    })
    assert.strictEqual(report.units["amount"], "atomic of mint")
    assert.isTrue(Schema.is(ExitCheck)(report))
  })

  it("leaves whole-token figures out when decimals are not known", () => {
    const report = exitCheck({ ...position([0.01, 1]), decimals: null }, [quoteOf(1000n), quoteOf(99_000n)])
    assert.isNull(report.uiAmount)
    assert.isNull(report.rungs[1]?.realizedPrice)
    assert.isNull(report.summary.maxCleanUiAmount)
    assert.strictEqual(report.rungs[1]?.outUiAmount, 0.000099)
    assert.strictEqual(report.summary.fullExitImpactPct, 1)
  })

  it("counts no proceeds from a clamped quote, and keeps the quote", () => {
    const clamped = quoteOf(400_000_000n, { clamped: true, venues: ["deep"] })
    const report = check([0.01, 0.5, 1], [quoteOf(10_000_000n), quoteOf(495_000_000n), clamped])
    const rung = report.rungs[2]
    assert.deepInclude(rung, { error: "clamped", outAmount: null, realizedPrice: null, realizedImpactPct: null })
    assert.strictEqual(rung?.quote, clamped)
    assert.strictEqual(report.summary.verdict, "trapped")
    assert.strictEqual(report.summary.maxCleanFraction, 0.5)
    assert.deepStrictEqual(codes(report), ["clamped_rung"])
    assert.isNull(report.summary.fullExitOutAmount)
  })

  it("has no route when nothing buys the largest rung", () => {
    const report = check([0.01, 1], [quoteOf(10n), null])
    assert.deepInclude(report.rungs[1], { quote: null, error: "no_route", outAmount: null })
    assert.strictEqual(report.summary.verdict, "no_route")
    assert.deepStrictEqual(codes(report), [])
  })

  it("is trapped when selling more returns less", () => {
    const report = check([0.01, 0.5, 1], [quoteOf(10_000_000n), quoteOf(600_000_000n), quoteOf(599_999_999n)])
    assert.strictEqual(report.summary.verdict, "trapped")
    assert.deepStrictEqual(codes(report), ["negative_marginal_proceeds"])
  })

  it("is thin above two percent and trapped from fifty", () => {
    assert.strictEqual(verdictAt(980_000_000n), "clean")
    assert.strictEqual(verdictAt(979_999_900n), "thin")
    assert.strictEqual(verdictAt(500_000_010n), "thin")
    assert.strictEqual(verdictAt(500_000_000n), "trapped")
  })

  it("never calls an unmeasured exit clean", () => {
    const alone = check([1], [quoteOf(1_000_000n)])
    assert.strictEqual(alone.summary.verdict, "thin")
    assert.deepStrictEqual(codes(alone), ["coarse_baseline", "impact_unmeasured"])
    const blind = check([0.01, 1], [null, quoteOf(1_000_000n)])
    assert.strictEqual(blind.summary.verdict, "thin")
    assert.deepStrictEqual(codes(blind), ["impact_unmeasured"])
    const partial = check([0.01, 0.5], [quoteOf(10_000n), quoteOf(500_000n)])
    assert.strictEqual(partial.summary.verdict, "thin")
    assert.deepStrictEqual(codes(partial), ["no_full_rung"])
    assert.isNull(partial.summary.fullExitPrice)
  })

  it("warns of a baseline above five percent of the position, or with an impact above one percent", () => {
    assert.deepStrictEqual(codesOfFirst(0.05, 1), [])
    assert.deepStrictEqual(codesOfFirst(0.051, null), ["coarse_baseline"])
    assert.deepStrictEqual(codesOfFirst(0.01, 1.000001), ["coarse_baseline"])
  })

  it("warns when rungs were priced on states too far apart, but not when only the feed has moved on", () => {
    assert.deepStrictEqual(codesAtSlot(110), [])
    assert.deepStrictEqual(codesAtSlot(111), ["mixed_slots"])
    const later = check([0.01, 1], [quoteOf(10_000n), quoteOf(1_000_000n, { contextSlot: 200 })])
    assert.deepStrictEqual(codes(later), [])
    assert.isFalse(areMixed([]))
  })
})

const rung = (fraction: number, realizedImpactPct: number | null, fields: Partial<Rung> = {}): Rung => ({
  fraction,
  amount: 1n,
  isBaseline: false,
  uiAmount: null,
  quote: null,
  error: null,
  outAmount: 1n,
  outUiAmount: null,
  realizedPrice: null,
  realizedImpactPct,
  upstreamImpactPct: null,
  ...fields
})

describe("largestClean", () => {
  const baseline = rung(0.01, 0, { isBaseline: true })
  it.each([
    ["every rung within two percent", [baseline, rung(0.5, 2), rung(1, 1.9)], 1],
    ["one in the middle beyond it", [baseline, rung(0.5, 2.1), rung(1, 1.9)], 1],
    ["the whole beyond it", [baseline, rung(0.5, 1.9), rung(1, 2.1)], 0.5],
    ["one that was not measured", [baseline, rung(0.5, null), rung(1, 1)], 1],
    ["a baseline beyond it by itself", [{ ...baseline, upstreamImpactPct: 2.1 }, rung(1, 1)], 1],
    ["no baseline", [rung(0.01, null, { isBaseline: true }), rung(1, null)], undefined],
    ["one rung, which is measured against itself", [rung(1, 0, { isBaseline: true })], undefined],
    ["a rung that returns less", [baseline, rung(0.5, 1, { outAmount: 9n }), rung(1, 1, { outAmount: 8n })], 0.5],
    ["nothing", [], undefined]
  ])("of %s", (_, rungs, fraction) => {
    assert.strictEqual(largestClean(rungs)?.fraction, fraction)
  })

  const Rungs = Schema.Array(
    Schema.Struct({ out: Schema.Int.check(Schema.isBetween({ minimum: 950, maximum: 1010 })), kind: Schema.Int })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(7))

  it.prop("is the whole position exactly when the verdict is clean", [Rungs, Schema.Boolean], ([drawn, isWhole]) => {
    const ladder = drawn.map((_, i) => ((isWhole ? 9 : 8) - drawn.length + i) / 8)
    const quotes = drawn.map(({ kind, out }, i) =>
      kind % 5 === 0 ? null : quoteOf(BigInt(out * (i + 1)) * 1000n, { clamped: kind % 7 === 0 })
    )
    const { maxCleanFraction, verdict } = check(ladder, quotes).summary
    assert.strictEqual(maxCleanFraction === 1, verdict === "clean")
  })
})

describe("verdictOf", () => {
  it.each([
    ["no_route", "no_route", [], 0],
    ["no_route", "no_route", ["negative_marginal_proceeds"], 99],
    ["trapped", "clamped", [], null],
    ["trapped", null, ["negative_marginal_proceeds"], 0],
    ["trapped", null, [], 50],
    ["thin", null, [], 49.999999],
    ["thin", null, [], 2.000001],
    ["thin", null, ["impact_unmeasured"], null],
    ["thin", null, ["no_full_rung"], null],
    ["clean", null, ["coarse_baseline"], 2],
    ["clean", null, [], -0.1]
  ] as const)("is %s for error %s, warnings %j, impact %s", (verdict, error, warnings, impact) => {
    assert.strictEqual(verdictOf({ error }, warnings, impact), verdict)
  })

  it("is no route for an empty ladder", () => {
    assert.strictEqual(verdictOf(undefined, [], 0), "no_route")
  })
})
