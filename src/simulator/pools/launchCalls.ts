/** Calls of the launchpads for launches and graduations, with the events that they send. */
import { inAccountOrder } from "../../programs/accountOrder.ts"
import { readAddress, readU64 } from "../../programs/math/bytes.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { dammV2PoolAuthority } from "../../programs/meteora/dammV2State.ts"
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import {
  dbcInitializeEvent,
  dbcMigrationAccounts,
  encodeDbcInitialize,
  encodeDbcMigration
} from "../../programs/meteora/dbcLaunches.ts"
import { dbcPoolAt, dbcPoolAuthority } from "../../programs/meteora/dbcState.ts"
import { curveAt } from "../../programs/pump/curve.ts"
import {
  type CoinTexts,
  encodePumpCreate,
  encodePumpCreateEvent,
  encodePumpMigrate,
  mintAuthorityOf,
  pumpMigrationEvent
} from "../../programs/pump/curveLaunches.ts"
import { PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { poolAuthorityOf, pumpSwap } from "../../programs/pump/pumpSwap.ts"
import { TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { ASSOCIATED_TOKEN_PROGRAM, inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { type AccountRef, type Call, pays, reads, programLog, programData, writes } from "../chain/Call.ts"
import { eventAuthority } from "../../programs/anchorEvents.ts"
import { METAPLEX_PROGRAM, metaplexSeeds, uriOf } from "../chain/metadata.ts"
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

/** A coin on its curve. */
export interface Launch {
  readonly mint: SimMint
  readonly kind: "pump-fun" | "meteora"
  readonly creator: Address
  readonly curve: Address
}

/** The inner calls behind the trace: creations, transfers, new units. Programs sign for their own accounts. */
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

const textsOf = ({ name, symbol, address }: SimMint): CoinTexts => [name, symbol, uriOf(address)]

const launchEvent = (world: World, { kind, mint, creator, curve }: Launch): Uint8Array => {
  const { data } = world.bank.must(curve)
  const { unixTimestamp: timestamp } = world.bank.clock()
  return kind === "pump-fun"
    ? encodePumpCreateEvent({
        texts: textsOf(mint),
        mint: mint.address,
        curve,
        creator,
        timestamp,
        virtualTokens: readU64(data, curveAt.virtualTokens),
        virtualQuote: readU64(data, curveAt.virtualQuote),
        realTokens: readU64(data, curveAt.realTokens),
        supply: readU64(data, curveAt.supply)
      })
    : dbcInitializeEvent.encode({
        pool: curve,
        config: readAddress(data, dbcPoolAt.config),
        creator,
        baseMint: mint.address,
        poolType: 0,
        activationPoint: timestamp
      })
}

/** The instruction that put a coin on its curve. The trace is the world's changes meanwhile. */
export const launchCall = (world: World, launch: Launch, trace: ReadonlyArray<Happening>): Call => {
  const { mint, kind, creator, curve } = launch
  const isPump = kind === "pump-fun"
  const program = isPump ? PUMP_PROGRAM : meteoraDbc.programId
  const authority = (isPump ? mintAuthorityOf : dbcPoolAuthority)(world.derive)
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
  const texts = textsOf(mint)
  const event = launchEvent(world, launch)
  return {
    program,
    accounts: [...named, ...others(inner, [...named, ...tail]), ...tail],
    data: isPump ? encodePumpCreate(texts, creator) : encodeDbcInitialize(texts),
    steps: [
      programLog(`Instruction: ${isPump ? "Create" : "InitializeVirtualPoolWithSplToken"}`),
      ...inner,
      ...(isPump ? [programData(event)] : []),
      selfCall(program, events, event)
    ],
    units: 90_000
  }
}

/** The accounts that a migration to DAMM v2 begins with, without a second position. */
const dammAccounts = (world: World, curve: Address, mint: SimMint, pool: Address): ReadonlyArray<AccountRef> => {
  const invented = (what: string) => inventAddress(world.seed, `${what} ${mint.address}`)
  const absent = reads(meteoraDbc.programId)
  return inAccountOrder(dbcMigrationAccounts, {
    virtualPool: writes(curve),
    migrationMetadata: reads(invented("migration metadata")),
    config: reads(readAddress(world.bank.must(curve).data, dbcPoolAt.config)),
    poolAuthority: writes(dbcPoolAuthority(world.derive)),
    pool: writes(pool),
    firstPositionNftMint: writes(invented("position mint")),
    firstPositionNftAccount: writes(invented("position account")),
    firstPosition: writes(invented("position")),
    secondPositionNftMint: absent,
    secondPositionNftAccount: absent,
    secondPosition: absent,
    dammPoolAuthority: reads(dammV2PoolAuthority(world.derive)),
    ammProgram: reads(meteoraDammV2.programId),
    baseMint: writes(mint.address),
    quoteMint: writes(SOL)
  })
}

/** The instruction that moved a coin from its curve to a pool. The trace is the world's changes meanwhile. */
export const graduationCall = (
  world: World,
  payer: Address,
  { mint, kind, curve }: Launch,
  pool: Address,
  trace: ReadonlyArray<Happening>
): Call => {
  const isPump = kind === "pump-fun"
  const program = isPump ? PUMP_PROGRAM : meteoraDbc.programId
  const events = eventAuthority(world.derive, program)
  const authority = isPump ? poolAuthorityOf(mint.address, world.derive) : dbcPoolAuthority(world.derive)
  const inner = innerCalls(world, payer, authority, trace)
  const received = (isCoin: boolean) =>
    trace.reduce(
      (sum, one) => (one.kind === "paid" && (one.mint === mint.address) === isCoin ? sum + one.amount : sum),
      0n
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
  const event = pumpMigrationEvent.encode({
    user: payer,
    mint: mint.address,
    mintAmount: received(true),
    solAmount: received(false),
    poolMigrationFee: 0n,
    bondingCurve: curve,
    timestamp: world.bank.clock().unixTimestamp,
    pool
  })
  return {
    program,
    accounts: [...named, ...others(inner, [...named, ...tail]), ...tail],
    data: isPump ? encodePumpMigrate() : encodeDbcMigration(),
    steps: [
      programLog(`Instruction: ${isPump ? "Migrate" : "MigrationDammV2"}`),
      ...inner,
      ...(isPump ? [programData(event), selfCall(program, events, event)] : [])
    ],
    units: 120_000
  }
}
