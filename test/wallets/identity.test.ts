import { assert, describe, it } from "@effect/vitest"
import type { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import { identityOf, ownedDomain } from "../../src/wallets/identity.ts"
import { EVIDENCE, FULL, platformOf, recordOf, reviewOf } from "./identities.ts"
import { OTHER, START, WALLET } from "./trades.ts"

const shown = (records: ReadonlyArray<IdentityRecord>, nowMs = START) => identityOf(WALLET, records, nowMs)

const kindsOf = (overrides: Partial<IdentityRecord["classifications"][number]>, nowMs = START) =>
  shown([recordOf({ labels: ["someone"], classifications: [reviewOf(overrides)] })], nowMs)?.classifications.map(
    ({ kind }) => kind
  )

describe("an identity", () => {
  it("has every known field, in the contract's type", () => {
    assert.deepStrictEqual(shown([FULL]), {
      labels: ["Early buyer", "Market maker 🦦"],
      display: { name: "Ada", avatarUrl: "https://images.example/ada.png" },
      tags: ["platform:harbor"],
      platformEvidence: [
        {
          tag: "platform:harbor",
          method: "fee_account",
          evidenceTx: EVIDENCE,
          confidence: 8000,
          observedAtMs: START
        }
      ],
      classifications: [
        {
          kind: "exchange",
          name: "Harbor Exchange",
          method: "manual_review",
          evidenceTx: EVIDENCE,
          confidence: 9500,
          reviewedAtMs: START
        }
      ],
      sns: { domain: "ada.sol" }
    })
  })

  it("is null when no field is publishable", () => {
    assert.isNull(shown([]))
    assert.isNull(shown([recordOf()]))
    assert.isNull(shown([recordOf({ classifications: [reviewOf({ confidence: 9499 })] })]))
    assert.isNull(shown([recordOf({ sns: { domain: "a.b.sol", owner: WALLET, isTokenized: false, verifiedAtMs: 0 } })]))
  })

  it("takes only classifications that are reviewed, current and certain", () => {
    assert.deepStrictEqual(kindsOf({}), ["hacker"])
    assert.deepStrictEqual(kindsOf({ kind: "spam_dusting", confidence: 10_000 }), ["spam_dusting"])
    assert.deepStrictEqual(kindsOf({ confidence: 9499 }), [])
    assert.deepStrictEqual(kindsOf({ reviewedAtMs: START + 1 }), [])
    assert.deepStrictEqual(kindsOf({ validUntilMs: START + 1 }), ["hacker"])
    assert.deepStrictEqual(kindsOf({ validUntilMs: START }), [])
    assert.deepStrictEqual(kindsOf({ kind: "exchange" }), [], "an exchange has a name")
    assert.deepStrictEqual(kindsOf({ kind: "exchange", name: "Harbor" }), ["exchange"])
  })

  it("joins the records of several sources, with the best evidence for each tag", () => {
    const weak = recordOf({ labels: ["one", "both"], platforms: [platformOf("harbor"), platformOf("reef")] })
    const strong = recordOf({
      labels: ["both", "two"],
      platforms: [platformOf("harbor", { confidence: 9000 }), platformOf("reef", { confidence: 100 })],
      display: { name: "Two", avatarUrl: null }
    })
    const identity = shown([weak, strong])
    assert.deepStrictEqual(identity?.labels, ["one", "both", "two"])
    assert.deepStrictEqual(identity?.tags, ["platform:harbor", "platform:reef"])
    assert.deepStrictEqual(
      identity?.platformEvidence.map(({ confidence }) => confidence),
      [9000, 8000]
    )
    assert.deepStrictEqual(identity?.display, { name: "Two", avatarUrl: null })
  })
})

describe("a domain", () => {
  const name = { domain: "ada.sol", owner: WALLET, isTokenized: false, verifiedAtMs: START }

  it("is shown when it is verified as owned by the wallet", () => {
    assert.strictEqual(ownedDomain(WALLET, name, START), "ada.sol")
    assert.strictEqual(ownedDomain(WALLET, { ...name, domain: "a-1.sol" }, START), "a-1.sol")
  })

  it.each([
    ["nothing cached", null],
    ["another owner", { ...name, owner: OTHER }],
    ["a token around it", { ...name, isTokenized: true }],
    ["a subdomain", { ...name, domain: "pay.ada.sol" }],
    ["another top", { ...name, domain: "ada.bonk" }],
    ["no name at all", { ...name, domain: ".sol" }],
    ["capitals", { ...name, domain: "Ada.sol" }],
    ["letters that look like others", { ...name, domain: "аda.sol" }],
    ["an emoji", { ...name, domain: "🦦.sol" }],
    ["a hyphen at the end", { ...name, domain: "ada-.sol" }],
    ["a time that has not come", { ...name, verifiedAtMs: START + 1 }]
  ])("stays unknown with %s", (_, cached) => {
    assert.isNull(ownedDomain(WALLET, cached, START))
  })
})
