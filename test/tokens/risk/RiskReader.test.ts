import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AuditReader, AuditUnavailable, type MintAudit } from "../../../src/tokens/AuditReader.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { at, ToyChain } from "../../quotes/toyChain.ts"
import { classicMint } from "../mints.ts"

const MINT = at(10)
const DAY = 86_400_000
const START = 1_700_000_000_000

const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

/** A mutable source that counts its reads. */
class Source {
  reads = 0
  audit: MintAudit | null = {
    tokenProgram: "spl-token",
    mintAuthority: at(1),
    freezeAuthority: null,
    slot: 5,
    observedAtMs: START,
    commitment: "confirmed"
  }
  broken = false

  readonly layer = Layer.succeed(AuditReader, {
    read: (mint) =>
      Effect.suspend(() => {
        this.reads++
        return this.broken ? Effect.fail(new AuditUnavailable({ mint, detail: "a test" })) : Effect.succeed(this.audit)
      })
  })
}

const overSource = <A, E>(source: Source, use: (risks: RiskReader["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    TestClock.setTime(START),
    RiskReader.use(use).pipe(Effect.provide(RiskReader.layer.pipe(Layer.provide(source.layer))))
  )

const active = (risks: RiskReader["Service"]) =>
  Effect.map(risks.riskOf(MINT), ({ facts }) => facts.mint_authority_active)

describe("RiskReader", () => {
  it.effect("shares an audit for thirty seconds and no longer", () => {
    const source = new Source()
    return overSource(source, (risks) =>
      Effect.gen(function* () {
        yield* active(risks)
        source.audit = null
        yield* TestClock.adjust(29_999)
        assert.strictEqual(yield* active(risks), true)
        assert.strictEqual(source.reads, 1)
        yield* TestClock.adjust(1)
        assert.isNull(yield* active(risks))
        assert.strictEqual(source.reads, 2)
      })
    )
  })

  it.effect("lets an authority expire within the thirty seconds: sharing never refreshes an observation", () => {
    const source = new Source()
    return overSource(source, (risks) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(DAY - 10_000)
        assert.strictEqual(yield* active(risks), true)
        yield* TestClock.adjust(10_000)
        assert.strictEqual(yield* active(risks), true)
        yield* TestClock.adjust(1)
        assert.isNull(yield* active(risks))
        assert.strictEqual(source.reads, 1, "still the same snapshot")
      })
    )
  })

  it.effect("reads again as soon as there may be something new", () => {
    const source = new Source()
    const { audit } = source
    source.audit = null
    return overSource(source, (risks) =>
      Effect.gen(function* () {
        assert.isNull(yield* active(risks))
        source.audit = audit
        assert.strictEqual(yield* active(risks), true)
      })
    )
  })

  it.effect("fails only while the source fails", () => {
    const source = new Source()
    source.broken = true
    return overSource(source, (risks) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(risks.riskOf(MINT)))._tag, "AuditUnavailable")
        source.broken = false
        assert.strictEqual(yield* active(risks), true)
      })
    )
  })
})

const overChain = <A, E>(chain: ToyChain, use: (risks: RiskReader["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    TestClock.setTime(START),
    RiskReader.use(use).pipe(
      Effect.provide(
        RiskReader.layer.pipe(
          Layer.provide(AuditReader.layer),
          Layer.provide(TokenBook.layer),
          Layer.provide(chain.layer)
        )
      )
    )
  )

describe("RiskReader over the mints in memory", () => {
  it.effect("is unknown at first, loads the mint, and then knows its authorities", () =>
    overChain(new ToyChain().put(classicMint(MINT, { mintAuthority: at(1) })), (risks) =>
      Effect.gen(function* () {
        assert.isNull(yield* active(risks))
        yield* settle
        const { facts, tags } = yield* risks.riskOf(MINT)
        assert.deepInclude(facts, { mint_authority_active: true, freeze_authority_active: false })
        assert.strictEqual(tags[0]?.observedAtMs, START)
      })
    )
  )

  it.effect("refreshes a mint before a day has passed, and is unknown once the chain stays silent", () => {
    const chain = new ToyChain().put(classicMint(MINT, { mintAuthority: at(1) }))
    return overChain(chain, (risks) =>
      Effect.gen(function* () {
        yield* active(risks)
        yield* settle
        yield* TestClock.adjust(DAY + 1)
        yield* settle
        assert.strictEqual(yield* active(risks), true)
        chain.withheld.add(MINT)
        yield* TestClock.adjust(DAY - 60_000)
        yield* settle
        assert.strictEqual(yield* active(risks), true, "last observed 24 hours after the start")
        yield* TestClock.adjust(120_000)
        assert.isNull(yield* active(risks))
      })
    )
  })

  it.effect("is unknown for an account that is not a mint, and fails on a malformed one", () => {
    const broken = classicMint(at(11))
    broken.data[0] = 9
    const chain = new ToyChain().put({ ...classicMint(MINT), owner: at(3) }, broken)
    return overChain(chain, (risks) =>
      Effect.gen(function* () {
        yield* Effect.forEach([MINT, at(11), at(12)], (mint) => risks.riskOf(mint))
        yield* settle
        assert.isNull(yield* active(risks))
        assert.isNull((yield* risks.riskOf(at(12))).facts.mint_authority_active)
        assert.deepInclude(yield* Effect.flip(risks.riskOf(at(11))), { _tag: "AuditUnavailable", mint: at(11) })
      })
    )
  })

  it.effect("ignores processed state, which could be rolled back", () => {
    const chain = new ToyChain().put(classicMint(MINT))
    chain.commitment = "processed"
    return overChain(chain, (risks) =>
      Effect.gen(function* () {
        yield* active(risks)
        yield* settle
        assert.isNull(yield* active(risks))
      })
    )
  })
})
