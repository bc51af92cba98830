import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem } from "effect"
import { readIdentities } from "../../src/wallets/identityFile.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import { loadIdentities } from "../../src/wallets/reviewedIdentities.ts"
import { EVIDENCE, FULL, recordOf, SECOND } from "./identities.ts"
import { OTHER, WALLET } from "./trades.ts"

const line = (value: unknown): string => JSON.stringify(value)
const review = { kind: "hacker", method: "manual_review", evidenceTx: EVIDENCE, confidence: 9800, reviewedAtMs: 5 }

describe("a file of identities", () => {
  it.effect("holds one record a line, or an array of records, and ignores empty lines", () =>
    Effect.gen(function* () {
      const records = [FULL, SECOND]
      assert.deepStrictEqual(yield* readIdentities(`\n${records.map(line).join("\r\n\n")}\n`), records)
      assert.deepStrictEqual(yield* readIdentities(` ${JSON.stringify(records, null, 2)}`), records)
      const [short] = yield* readIdentities(line({ wallet: WALLET, labels: ["one"], classifications: [review] }))
      assert.deepStrictEqual(
        short,
        recordOf({
          labels: ["one"],
          classifications: [{ ...FULL.classifications[0], ...review, kind: "hacker", name: null, validUntilMs: null }]
        })
      )
      assert.deepStrictEqual(yield* readIdentities(""), [])
      assert.deepStrictEqual(yield* readIdentities("[]"), [])
    })
  )

  const cases: ReadonlyArray<readonly [string, string, number, string]> = [
    ["invalid JSON", `${line(FULL)}\n{"wallet":`, 2, ""],
    ["an address that is none", `\n${line({ wallet: "not an address" })}`, 2, "wallet"],
    ["a record without a wallet", line({ labels: [] }), 1, "wallet"],
    ["a field it does not know", line({ wallet: WALLET, label: "one" }), 1, "label"],
    [
      "a confidence beyond certainty",
      line({ wallet: WALLET, classifications: [{ ...review, confidence: 10_001 }] }),
      1,
      "classifications.0.confidence"
    ],
    [
      "an unknown classification",
      line({ wallet: WALLET, classifications: [{ ...review, kind: "villain" }] }),
      1,
      "classifications.0.kind"
    ],
    [
      "evidence that is no signature",
      line({ wallet: WALLET, classifications: [{ ...review, evidenceTx: "abc" }] }),
      1,
      "classifications.0.evidenceTx"
    ],
    [
      "a tag that is no platform's",
      line({ wallet: WALLET, platforms: [{ ...FULL.platforms[0], tag: "harbor" }] }),
      1,
      "platforms.0.tag"
    ],
    ["a control character", line({ wallet: WALLET, labels: ["a\u0000"] }), 1, "labels.0"],
    [
      "a link that is not https",
      line({ wallet: WALLET, display: { name: "x", avatarUrl: "javascript:1" } }),
      1,
      "display.avatarUrl"
    ],
    [
      "a wallet twice",
      `${line({ wallet: WALLET })}\n${line({ wallet: OTHER })}\n${line({ wallet: WALLET })}`,
      3,
      "wallet"
    ],
    ["a wrong record in an array", `[\n${line(FULL)},\n\n${line({ wallet: OTHER, labels: 7 })}]`, 4, "labels"],
    ["an array that does not end", "[{}", 1, ""]
  ]
  it.effect.each(cases)("is refused whole for %s, with the line and the field", ([, text, at, field]) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(readIdentities(text))
      assert.deepInclude({ ...refused }, { line: at, field })
      assert.match(refused.message, new RegExp(`^Identities, line ${at}[:,]`, "u"))
    })
  )
})

const started = (files: Record<string, string>, setting: Record<string, string>) =>
  loadIdentities.pipe(
    Effect.provide([
      FileSystem.layerNoop({ readFileString: (path) => Effect.succeed(files[path] ?? "") }),
      ConfigProvider.layer(ConfigProvider.fromUnknown(setting))
    ])
  )

describe("at start", () => {
  it.effect("the records of the file replace earlier records; without the setting the earlier ones stay", () =>
    Effect.gen(function* () {
      const store = yield* IdentityStore
      const from = { IDENTITIES_FILE: "ids" }
      yield* started({ ids: line(FULL) }, from)
      yield* started({}, {})
      assert.deepStrictEqual((yield* store.of([WALLET])).get(WALLET), [FULL])
      yield* started({ ids: line(SECOND) }, from)
      assert.deepStrictEqual(Array.from((yield* store.of([WALLET, OTHER])).keys()), [OTHER])
      assert.strictEqual((yield* Effect.flip(started({ ids: "{}" }, from)))._tag, "IdentitiesRefused")
      assert.deepStrictEqual(Array.from((yield* store.of([WALLET, OTHER])).keys()), [OTHER])
    }).pipe(Effect.provide(IdentityStore.layerMemory))
  )
})
