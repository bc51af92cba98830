import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeAddress, writeU64, newAccountData } from "../../../src/programs/layout/bytes.ts"
import { raydiumLaunchLab } from "../../../src/programs/raydium/launchLab.ts"
import {
  LAUNCHLAB_DISCRIMINATOR,
  LAUNCHLAB_PROGRAM,
  LAUNCHLAB_SIZE,
  launchLabAt as at
} from "../../../src/programs/raydium/launchLabLayout.ts"
import { followedPrograms } from "../../../src/programs/registry.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { POOL, settle, TOKEN, VAULT_A, VAULT_B, withBook } from "../../quotes/pools/bookScene.ts"
import { ToyChain } from "../../quotes/toyChain.ts"
import { derive, failing } from "../stateAccounts.ts"

const FOR_SALE = 793_100_000_000_000n

/** A curve that has sold this much, in this status. */
const curveWith = (sold: bigint, status = 0): OnChainAccount => {
  const data = newAccountData(LAUNCHLAB_SIZE, LAUNCHLAB_DISCRIMINATOR)
  data[at.status] = status
  writeU64(data, at.totalBaseSell, FOR_SALE)
  writeU64(data, at.realBase, sold)
  writeAddress(data, at.baseMint, TOKEN)
  writeAddress(data, at.quoteMint, SOL)
  writeAddress(data, at.baseVault, VAULT_A)
  writeAddress(data, at.quoteVault, VAULT_B)
  return { address: POOL, owner: LAUNCHLAB_PROGRAM, lamports: 1n, data, slot: 1 }
}

const decode = (account: OnChainAccount) => failing(raydiumLaunchLab.decode(account, () => undefined, derive))

describe("a curve of LaunchLab", () => {
  it("states the sold share of its tokens, and is refused by name", () => {
    assert.deepStrictEqual(decode(curveWith(79_310_000_000_000n)), {
      reason: "unsupported",
      detail: "prices of Raydium LaunchLab are not proven against the program",
      mints: [TOKEN, SOL],
      graduation: { numerator: 79_310_000_000_000n, denominator: FOR_SALE }
    })
    assert.deepInclude(decode(curveWith(FOR_SALE, 1)), { reason: "closed", detail: "everything is sold" })
    assert.deepInclude(decode(curveWith(FOR_SALE, 2)), { reason: "closed", detail: "moved to a pool" })
  })

  it("states nothing for amounts that no curve has, and matches no other account", () => {
    assert.notProperty(decode(curveWith(FOR_SALE + 1n)), "graduation")
    const other = { ...curveWith(0n), owner: SOL }
    assert.isFalse(raydiumLaunchLab.isPool(other))
    assert.strictEqual(decode(other).reason, "malformed")
  })

  it.effect("is found through the token that it sells, and shows its progress without a price", () => {
    const chain = new ToyChain().put(curveWith(0n))
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          assert.isNull(book.graduationOf(TOKEN))
          yield* book.warm(TOKEN)
          yield* settle
          assert.deepStrictEqual(book.graduationOf(TOKEN), { numerator: 0n, denominator: FOR_SALE })
          assert.deepStrictEqual(book.poolsOf(TOKEN), [])
          const refused = book.between(TOKEN, SOL)?.refused.find(({ address }) => address === POOL)
          assert.deepInclude(refused, { dex: "raydium-launchlab", reason: "unsupported" })
          assert.isNull(book.graduationOf(SOL))
          chain.write(2, curveWith(1n))
          yield* settle
          assert.deepStrictEqual(book.graduationOf(TOKEN), { numerator: 1n, denominator: FOR_SALE })
        }),
      {},
      followedPrograms
    )
  })
})
