/** Decodes the pools of a fixture from its own accounts. Accounts that dumps leave out are replaced by stand-ins. */
import { plainMint } from "../../programs/layout/tokenAccount.ts"
import { mintsNamedBy } from "../../programs/layout/poolFields.ts"
import type { Accounts, Pool, Program, Unpriceable } from "../../programs/interface/Program.ts"
import { programs } from "../../programs/registry.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, type Mint, SOL } from "../../domain/Address.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import { addressOf, type Fixture } from "./poolFixture.ts"
import { discriminator, makeAccount } from "./makeAccount.ts"

/** Shared by the whole run, so that each address is derived once. */
export const derive = makeDeriveAddress()

const PUMP = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
const PUMP_GLOBAL = Address.make("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf")
const PUMP_FEE_CONFIG = Address.make("8Wf5TiAheLUqBrKXeYg2JtAFFMWtKdG2BSFgqUcPVwTt")
const PUMP_SWAP = Address.make("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")
const PUMP_SWAP_GLOBAL = Address.make("ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw")

/** Stand-ins for the settings of the pump programs: everything is enabled, and no creator sets a rate. */
export const standIns = (accounts: ReadonlyMap<string, OnChainAccount>): ReadonlyArray<OnChainAccount> => [
  makeAccount(PUMP_SWAP_GLOBAL, PUMP_SWAP, 949, [[0, discriminator("95089ccaa0fcb0d9")]]),
  // Only when there is a FeeConfig. Otherwise the engine would read the fees from Global.
  ...(accounts.has(PUMP_FEE_CONFIG)
    ? [makeAccount(PUMP_GLOBAL, PUMP, 1087, [[0, discriminator("a7e8e8b1c86c727f")]])]
    : [])
]

interface Candidate {
  readonly program: Program
  readonly account: OnChainAccount
}

const candidatesOf = ({ accounts }: Fixture): ReadonlyArray<Candidate> =>
  [...accounts.values()].flatMap((account) =>
    programs.filter((program) => program.isPool(account)).map((program) => ({ program, account }))
  )

const mintsOf = (fixture: Fixture, candidates: ReadonlyArray<Candidate>): ReadonlySet<Mint> =>
  new Set([
    SOL,
    ...[...fixture.cases, ...fixture.errors].flatMap((entry) => addressOf(entry, "inputMint") ?? []),
    ...candidates.flatMap(({ account: { data }, program }) => mintsNamedBy(program, data))
  ])

/** Looks accounts up: first the given ones, then stand-ins, then plain mints. All other accounts do not exist. */
export const lookup = (given: ReadonlyMap<string, OnChainAccount>, mints: ReadonlySet<Mint>): Accounts => {
  const spare = new Map(standIns(given).map((account) => [account.address, account]))
  return (address) => given.get(address) ?? spare.get(address) ?? (mints.has(address) ? plainMint(address) : null)
}

/** The coin of a bonding curve: the one of these mints that leads to its address. */
export const coinOf = (program: Program, pool: OnChainAccount, mints: Iterable<Address>): Mint | undefined =>
  program.poolAddressesOf === undefined
    ? undefined
    : [...mints].find((mint) => program.poolAddressesOf?.(mint, derive).includes(pool.address))

/** Decodes every pool in the fixture with the engine's programs. */
export const decodePools = (fixture: Fixture): ReadonlyArray<Pool | Unpriceable> => {
  const candidates = candidatesOf(fixture)
  const mints = mintsOf(fixture, candidates)
  const accounts = lookup(fixture.accounts, mints)
  return candidates.map(({ account, program }) => {
    // A file with all accounts holds the coin's mint, though its cases may not name it.
    const foundBy = coinOf(program, account, [
      ...mints,
      ...[...fixture.accounts.values()].map(({ address }) => address)
    ])
    return program.decode(account, accounts, derive, foundBy)
  })
}
