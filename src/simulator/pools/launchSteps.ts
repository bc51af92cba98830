/** The calls inside a launch or graduation, from the world's trace. */
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { AccountRef, Call } from "../../programs/transactions/Call.ts"
import {
  burn,
  createAccount,
  initializeAccount,
  initializeMint,
  isTokenProgram,
  mintTo,
  syncNative,
  transferChecked
} from "../chain/standardCalls.ts"
import { paymentCall } from "../chain/trade.ts"
import { type Happening, isTokenAccount, type World } from "../chain/World.ts"

/** Turns the trace into inner calls: creations, transfers, new units. Programs sign for their own accounts. */
export const innerCalls = (world: World, payer: Address, authority: Address, trace: ReadonlyArray<Happening>) =>
  trace.flatMap((happening): ReadonlyArray<Call> => {
    switch (happening.kind) {
      case "account":
        return happening.owner === SYSTEM_PROGRAM || isTokenProgram(happening.owner)
          ? []
          : [createAccount(payer, happening.account, happening.owner, happening.size)]
      case "mint":
        return [
          createAccount(payer, happening.mint, TOKEN_PROGRAM, world.bank.must(happening.mint).data.length),
          initializeMint(TOKEN_PROGRAM, happening.mint, happening.decimals, authority)
        ]
      case "token account": {
        const { owner, data } = world.bank.must(happening.account)
        return [
          createAccount(payer, happening.account, owner, data.length),
          initializeAccount(owner, happening.account, happening.mint, happening.owner)
        ]
      }
      case "issued":
        return [mintTo(TOKEN_PROGRAM, happening.mint, happening.to, authority, happening.amount)]
      case "burnt":
        return [burn(TOKEN_PROGRAM, happening.mint, happening.from, payer, happening.amount)]
      case "paid": {
        const call = paymentCall(world, happening, "seeded", transferChecked)
        return call === null
          ? isTokenAccount(world.bank.must(happening.to))
            ? [syncNative(happening.to)]
            : []
          : [call]
      }
      case "purse":
        return []
    }
  })

/** Accounts of the inner calls that the instruction must name in addition to its own. */
export const others = (inner: ReadonlyArray<Call>, named: ReadonlyArray<AccountRef>): ReadonlyArray<AccountRef> => {
  const known = new Set(named.map(({ address }) => address))
  const found = new Map<Address, AccountRef>()
  for (const { accounts } of inner) {
    for (const { address, writable } of accounts) {
      if (!known.has(address)) {
        found.set(address, { address, writable: writable || found.get(address)?.writable === true, signer: false })
      }
    }
  }
  return Array.from(found.values())
}
