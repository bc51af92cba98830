/** Lists of answers that must not be passed on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type {
  FundingClient,
  FundingUnavailable,
  UnknownFundingTarget,
  UnknownWallet
} from "../../src/funding/FundingClient.ts"
import { asking, type Script } from "./scriptedFunding.ts"

type Reason = "malformed" | "foreign"
/** What is wrong, the reason of the failure, and the fields that cause it. */
export type Variant = readonly [what: string, reason: Reason, change: object]
/** A read of the client. */
export type Ask = (
  client: FundingClient["Service"]
) => Effect.Effect<unknown, FundingUnavailable | UnknownWallet | UnknownFundingTarget>

/** Every field in turn, once absent and once of another type, and one field too many. */
export const perField = (whole: object): ReadonlyArray<Variant> => [
  ...Object.keys(whole).flatMap((field): ReadonlyArray<Variant> => [
    [`no ${field}`, "malformed", { [field]: undefined }],
    [`${field} as a list`, "malformed", { [field]: [] }]
  ]),
  ["a field too many", "malformed", { userId: "acct_1" }]
]

/** Tests that every variant of an answer is rejected, and that the answer itself is not. */
export const refuses = (
  question: string,
  ask: Ask,
  answer: (change: object) => Partial<Script>,
  variants: ReadonlyArray<Variant>
) => {
  describe(`${question} passes on`, () => {
    it.effect("a valid answer", () =>
      asking((client, { say }) =>
        Effect.gen(function* () {
          say(answer({}))
          yield* ask(client)
        })
      )
    )
  })
  describe(`${question} does not pass on`, () => {
    for (const [what, reason, change] of variants) {
      it.effect(what, () =>
        asking((client, { say }) =>
          Effect.gen(function* () {
            say(answer(change))
            assert.deepInclude(yield* Effect.flip(ask(client)), { _tag: "FundingUnavailable", reason })
          })
        )
      )
    }
  })
}

const amounts: ReadonlyArray<readonly [string, unknown]> = [
  ["as a number", 1],
  ["as nothing", ""],
  ["with a leading zero", "01"],
  ["with a sign", "+1"],
  ["below zero", "-1"],
  ["with a fraction", "1.0"],
  ["with an exponent", "1e6"],
  ["in hex", "0x10"],
  ["with a space", " 1"],
  ["with a line break", "1\n"],
  ["in other digits", "\u0661"],
  ["of 129 digits", "1".repeat(129)]
]

/** An amount field, written in every wrong way. */
export const named = (field: string): ReadonlyArray<Variant> =>
  amounts.map(([what, value]) => [`${field} ${what}`, "malformed", { [field]: value }])
