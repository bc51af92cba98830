import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import { castOf } from "../../src/simulator/traders/cast.ts"
import { identitiesOf } from "../../src/simulator/seed/identities.ts"
import { identityOf } from "../../src/wallets/identity.ts"

const NOW = 1_795_264_636_907
const { wallets } = castOf("identities")
const records = identitiesOf({ nowMs: NOW, wallets })

describe("the identities of an invented market", () => {
  it("are records that a file could hold, of wallets that trade in that market", () => {
    const isRecord = Schema.is(IdentityRecord)
    assert.isTrue(records.every((record) => isRecord(record)))
    const known = new Set(wallets.map(({ address }) => address))
    assert.isTrue(records.every(({ wallet }) => known.has(wallet)))
    assert.strictEqual(new Set(records.map(({ wallet }) => wallet)).size, records.length)
    assert.isBelow(records.length, wallets.length / 2, "most have no identity")
  })

  it("are served from the start, with every kind of identity", () => {
    const told = records.map((record) => identityOf(record.wallet, [record], NOW))
    assert.isTrue(told.every((identity) => identity !== null))
    const kinds = told.flatMap((identity) => identity?.classifications.map(({ kind }) => kind) ?? [])
    assert.sameMembers(kinds, ["spam_dusting", "hacker", "exchange"])
    assert.isTrue(told.some((identity) => identity?.sns !== null))
    assert.isTrue(told.some((identity) => identity?.tags.includes("platform:harbor") === true))
    assert.isTrue(told.some((identity) => identity?.display?.avatarUrl !== null))
  })

  it("are the same for the same seed and day, and others for another seed", () => {
    assert.deepStrictEqual(identitiesOf({ nowMs: NOW + 1000, wallets }), records)
    const others = identitiesOf({ nowMs: NOW, wallets: castOf("another").wallets })
    assert.notDeepEqual(others[0]?.wallet, records[0]?.wallet)
  })
})
