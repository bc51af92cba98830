/** Launches and graduations as the programs are called for them: pump-public-docs, idl/pump.json; dynamic-bonding-curve, IDL. */
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { pumpSwap } from "../../programs/pump/pumpSwap.ts"
import { TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import { type Address, addressFromBytes, SOL } from "../../domain/Address.ts"
import { ASSOCIATED_TOKEN_PROGRAM, inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { type AccountRef, type Call, pays, reads, says, tells, writes } from "../chain/Call.ts"
import { eventAuthority } from "../../programs/anchorEvents.ts"
import { METAPLEX_PROGRAM, metaplexSeeds, uriOf } from "../chain/metadata.ts"
import { hex, i64, key, pack, text, u64, u8 } from "../../programs/math/pack.ts"
import type { SimMint } from "../chain/SimPool.ts"
import {
  createAccount,
  initializeAccount,
  initializeMint,
  isTokenProgram,
  mintTo,
  syncNative,
  transferChecked
} from "../chain/standardCalls.ts"
import { selfCall } from "../chain/SwapCall.ts"
import { paymentCall } from "../traders/trade.ts"
import { type Happening, isTokenAccount, type World } from "../chain/World.ts"

/** What has to be known of a coin. */
export interface Birth {
  readonly mint: SimMint
  readonly kind: "pump-fun" | "meteora"
  readonly creator: Address
  readonly curve: Address
}

/** The calls inside that make what the trace says was made. Programs sign for accounts of their own. */
const innerCalls = (world: World, payer: Address, authority: Address, trace: ReadonlyArray<Happening>) =>
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

/** Accounts of the inner calls that the instruction must name besides its own. */
const others = (inner: ReadonlyArray<Call>, named: ReadonlyArray<AccountRef>): ReadonlyArray<AccountRef> => {
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

const utf8 = new TextEncoder()

const createEvent = (world: World, { mint, creator, curve }: Birth): Uint8Array => {
  const { data } = world.bank.must(curve)
  return pack(
    hex("1b72a94ddeeb6376"),
    text(mint.name),
    text(mint.symbol),
    text(uriOf(mint.address)),
    ...[mint.address, curve, creator, creator].map(key),
    i64(world.bank.clock().unixTimestamp),
    data.slice(8, 32),
    data.slice(40, 48)
  )
}

/** The instruction that put a coin on its curve, from what happened meanwhile. */
export const launchCall = (world: World, birth: Birth, trace: ReadonlyArray<Happening>): Call => {
  const { mint, kind, creator, curve } = birth
  const isPump = kind === "pump-fun"
  const program = isPump ? PUMP_PROGRAM : meteoraDbc.programId
  const authority = world.derive(program, [utf8.encode(isPump ? "mint-authority" : "pool_authority")])
  const inner = innerCalls(world, creator, authority, trace)
  const events = eventAuthority(world.derive, program)
  const metadata = world.derive(METAPLEX_PROGRAM, metaplexSeeds(mint.address))
  const own: ReadonlyArray<AccountRef> = isPump
    ? [
        pays(mint.address),
        reads(authority),
        writes(curve),
        ...trace.flatMap((happening) => (happening.kind === "token account" ? [writes(happening.account)] : [])),
        writes(metadata),
        pays(creator)
      ]
    : [reads(authority), reads(creator), pays(mint.address), writes(curve), writes(metadata), pays(creator)]
  const named = [...own, reads(SYSTEM_PROGRAM), reads(TOKEN_PROGRAM), reads(ASSOCIATED_TOKEN_PROGRAM)]
  const tail = [reads(events), reads(program)]
  const names = [text(mint.name), text(mint.symbol), text(uriOf(mint.address))]
  const event = createEvent(world, birth)
  const pool = pack(
    hex("e432f655cb428625"),
    key(curve),
    // The config, where the state of the curve has it.
    world.bank.must(curve).data.slice(72, 104),
    key(creator),
    key(mint.address),
    u8(0),
    u64(BigInt(world.bank.clock().unixTimestamp))
  )
  return {
    program,
    accounts: [...named, ...others(inner, [...named, ...tail]), ...tail],
    data: isPump ? pack(hex("181ec828051c0777"), ...names, key(creator)) : pack(hex("8c55d7b06636684f"), ...names),
    steps: [
      says(`Instruction: ${isPump ? "Create" : "InitializeVirtualPoolWithSplToken"}`),
      ...inner,
      ...(isPump ? [tells(event)] : []),
      selfCall(program, events, isPump ? event : pool)
    ],
    units: 90_000
  }
}

/** The accounts that a migration to DAMM v2 begins with, up to its two mints; an optional one left out is the program itself. */
const dammAccounts = (world: World, curve: Address, mint: SimMint, pool: Address): ReadonlyArray<AccountRef> => {
  const invented = (what: string) => inventAddress(world.seed, `${what} ${mint.address}`)
  const absent = reads(meteoraDbc.programId)
  return [
    writes(curve),
    reads(invented("migration metadata")),
    reads(addressFromBytes(world.bank.must(curve).data.slice(72, 104))),
    writes(world.derive(meteoraDbc.programId, [utf8.encode("pool_authority")])),
    writes(pool),
    writes(invented("position mint")),
    writes(invented("position account")),
    writes(invented("position")),
    absent,
    absent,
    absent,
    reads(world.derive(meteoraDammV2.programId, [utf8.encode("pool_authority")])),
    reads(meteoraDammV2.programId),
    writes(mint.address),
    writes(SOL)
  ]
}

/** The instruction that gave a coin its pool, from what happened meanwhile. */
export const graduationCall = (
  world: World,
  payer: Address,
  { mint, kind, curve }: Birth,
  pool: Address,
  trace: ReadonlyArray<Happening>
): Call => {
  const isPump = kind === "pump-fun"
  const program = isPump ? PUMP_PROGRAM : meteoraDbc.programId
  const events = eventAuthority(world.derive, program)
  const inner = innerCalls(world, payer, world.derive(program, [utf8.encode("pool_authority")]), trace)
  const received = (ours: boolean) =>
    u64(
      trace.reduce(
        (sum, one) => (one.kind === "paid" && (one.mint === mint.address) === ours ? sum + one.amount : sum),
        0n
      )
    )
  const named = [
    ...(isPump
      ? [reads(mint.address), writes(curve), pays(payer), writes(pool)]
      : [...dammAccounts(world, curve, mint, pool), pays(payer)]),
    reads(SYSTEM_PROGRAM),
    reads(TOKEN_PROGRAM),
    ...(isPump ? [reads(pumpSwap.programId)] : [])
  ]
  const tail = [reads(events), reads(program)]
  const event = pack(
    hex("bde95db95c94ea94"),
    key(payer),
    key(mint.address),
    received(true),
    received(false),
    u64(0n),
    key(curve),
    i64(world.bank.clock().unixTimestamp),
    key(pool)
  )
  return {
    program,
    accounts: [...named, ...others(inner, [...named, ...tail]), ...tail],
    data: hex(isPump ? "9beae792ec9ea21e" : "9ca9e66735e45040"),
    steps: [
      says(`Instruction: ${isPump ? "Migrate" : "MigrationDammV2"}`),
      ...inner,
      ...(isPump ? [tells(event), selfCall(program, events, event)] : [])
    ],
    units: 120_000
  }
}
