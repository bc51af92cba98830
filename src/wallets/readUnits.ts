/** Reads what wallets hold from the node. */
import { Cache, Clock, Duration, Effect, Schema, Semaphore } from "effect"
import { BALANCE_LENGTH, TOKEN_PROGRAMS, TokenAccounts, unitsByMint } from "../chain/rpc/TokenAccounts.ts"
import { ChainUnavailable } from "../chain/ChainUnavailable.ts"
import type { Address, Mint } from "../domain/Address.ts"
import { within } from "../storage/deadline.ts"
import type { HeldUnits } from "./walletBalances.ts"

const DEADLINE = Duration.millis(1500)
/**
 * Wallets whose accounts are kept, and for how long. Callers that read one wallet together share one read. A failure is kept
 * too: a huge wallet that is asked for again and again costs one read.
 */
const MOST_KEPT = 100
const KEPT_FOR = Duration.seconds(5)
const CONCURRENT_WALLETS = 4
/** The most bytes of an answer: about 20,000 token accounts under one program. It is parsed in one step. */
const MOST_BYTES = 8 * 1024 * 1024

class DeadlinePassed extends Schema.TaggedError<DeadlinePassed>()("DeadlinePassed", {}) {}

/** Reads the accounts of a wallet under both token programs and its SOL, all at once, within 1.5 seconds. At most four wallets at a time. */
export const makeUnits = Effect.gen(function* () {
  const node = yield* TokenAccounts

  const ofProgram = Effect.fnUntraced(function* (owner: Address, program: Address) {
    const { accounts, slot } = yield* node.ofOwner({ owner, program, length: BALANCE_LENGTH, maxBytes: MOST_BYTES })
    const units = unitsByMint(owner, accounts)
    return units === null
      ? yield* new ChainUnavailable({ reason: "invalid", detail: "token accounts of another owner" })
      : { slot, units }
  })

  const read = Effect.fnUntraced(function* (wallet: Address): Effect.fn.Return<HeldUnits, ChainUnavailable> {
    const [programs, own] = yield* Effect.all(
      [
        Effect.forEach(TOKEN_PROGRAMS, (program) => ofProgram(wallet, program), { concurrency: "unbounded" }),
        node.lamportsOf(wallet)
      ],
      { concurrency: 2 }
    )
    return {
      lamports: own.lamports,
      units: new Map<Mint, bigint>(programs.flatMap(({ units }) => Array.from(units))),
      slots: { sol: own.slot, splToken: programs[0]?.slot ?? own.slot, token2022: programs[1]?.slot ?? own.slot },
      atMs: yield* Clock.currentTimeMillis
    }
  })

  const turns = yield* Semaphore.make(CONCURRENT_WALLETS)
  const kept = yield* Cache.makeWith(
    (wallet: Address) =>
      turns
        .withPermits(1)(read(wallet))
        .pipe(within(DEADLINE, () => new DeadlinePassed())),
    { capacity: MOST_KEPT, timeToLive: () => KEPT_FOR }
  )
  return (wallet: Address) => Cache.get(kept, wallet)
})
