/** Launchpad calls for launches and graduations, with their events. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { readAddress, readU64 } from "../../programs/layout/bytes.ts"
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
import type { DeriveAddress } from "../../programs/interface/Program.ts"
import {
  encodeLaunchLabCreateEvent,
  encodeLaunchLabInitialize,
  encodeLaunchLabMigration
} from "../../programs/raydium/launchLabLaunches.ts"
import { LAUNCHLAB_PROGRAM, launchLabAt, launchLabAuthority } from "../../programs/raydium/launchLabLayout.ts"
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import {
  type AccountRef,
  type Call,
  pays,
  reads,
  programLog,
  programData,
  writes
} from "../../programs/transactions/Call.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { METAPLEX_PROGRAM, metaplexSeeds, uriOf } from "../chain/metadata.ts"
import type { SimMint } from "../chain/SimPool.ts"
import { selfCall } from "../chain/SwapCall.ts"
import { launchLabGraduationAccounts, launchLabLaunchAccounts } from "./launchLabCalls.ts"
import { launchLabCurve } from "./launchLabCurves.ts"
import { innerCalls, others } from "./launchSteps.ts"
import type { Happening, World } from "../chain/World.ts"

/** The launchpads on the simulated market. */
export type LaunchKind = "pump-fun" | "meteora" | "launchlab"

/** A coin on its curve. */
export interface Launch {
  readonly mint: SimMint
  readonly kind: LaunchKind
  readonly creator: Address
  readonly curve: Address
}

const textsOf = ({ name, symbol, address }: SimMint): CoinTexts => [name, symbol, uriOf(address)]

const launchEvent = (world: World, launch: Launch): Uint8Array => {
  const { kind, mint, creator, curve } = launch
  const { data } = world.bank.must(curve)
  const { unixTimestamp: timestamp } = world.bank.clock()
  switch (kind) {
    case "pump-fun":
      return encodePumpCreateEvent({
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
    case "meteora":
      return dbcInitializeEvent.encode({
        pool: curve,
        config: readAddress(data, dbcPoolAt.config),
        creator,
        baseMint: mint.address,
        poolType: 0,
        activationPoint: timestamp
      })
    case "launchlab":
      return encodeLaunchLabCreateEvent(
        { curve, creator, config: readAddress(data, launchLabAt.globalConfig) },
        textsOf(mint),
        launchLabCurve
      )
  }
}

const programOf: Readonly<Record<LaunchKind, Address>> = {
  "pump-fun": PUMP_PROGRAM,
  meteora: meteoraDbc.programId,
  launchlab: LAUNCHLAB_PROGRAM
}

const mintAuthority: Readonly<Record<LaunchKind, (derive: DeriveAddress) => Address>> = {
  "pump-fun": mintAuthorityOf,
  meteora: dbcPoolAuthority,
  launchlab: launchLabAuthority
}

const launchNames: Readonly<Record<LaunchKind, string>> = {
  "pump-fun": "Create",
  meteora: "InitializeVirtualPoolWithSplToken",
  launchlab: "InitializeV2"
}

const launchData = ({ kind, mint, creator }: Launch): Uint8Array => {
  const texts = textsOf(mint)
  switch (kind) {
    case "pump-fun":
      return encodePumpCreate(texts, creator)
    case "meteora":
      return encodeDbcInitialize(texts)
    case "launchlab":
      return encodeLaunchLabInitialize(texts, launchLabCurve)
  }
}

/** The accounts that a launch itself names, without the programs' own accounts. */
const launchAccounts = (
  world: World,
  { kind, mint, creator, curve }: Launch,
  trace: ReadonlyArray<Happening>
): ReadonlyArray<AccountRef> => {
  const authority = reads(mintAuthority[kind](world.derive))
  const metadata = writes(world.derive(METAPLEX_PROGRAM, metaplexSeeds(mint.address)))
  switch (kind) {
    case "pump-fun":
      return [
        pays(mint.address),
        authority,
        writes(curve),
        ...trace.flatMap((happening) => (happening.kind === "token account" ? [writes(happening.account)] : [])),
        metadata,
        pays(creator)
      ]
    case "meteora":
      return [authority, reads(creator), pays(mint.address), writes(curve), metadata, pays(creator)]
    case "launchlab":
      return launchLabLaunchAccounts(world, { creator, curve, mint: mint.address })
  }
}

/** The instruction that put a coin on its curve. The trace is what happened to the world meanwhile. */
export const launchCall = (world: World, launch: Launch, trace: ReadonlyArray<Happening>): Call => {
  const { kind, creator } = launch
  const program = programOf[kind]
  const inner = innerCalls(world, creator, mintAuthority[kind](world.derive), trace)
  const events = eventAuthority(world.derive, program)
  const own = launchAccounts(world, launch, trace)
  const named = [...own, reads(SYSTEM_PROGRAM), reads(TOKEN_PROGRAM), reads(ASSOCIATED_TOKEN_PROGRAM)]
  const tail = [reads(events), reads(program)]
  const event = launchEvent(world, launch)
  return {
    program,
    accounts: [...named, ...others(inner, [...named, ...tail]), ...tail],
    data: launchData(launch),
    steps: [
      programLog(`Instruction: ${launchNames[kind]}`),
      ...inner,
      ...(kind === "pump-fun" ? [programData(event)] : []),
      selfCall(program, events, event)
    ],
    units: 90_000
  }
}

/** The first accounts of a migration to DAMM v2, without a second position. */
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

/** Name, data, signer and accounts of a graduation, for each launchpad. */
const graduationOf = (world: World, payer: Address, { kind, mint, curve }: Launch, pool: Address) => {
  switch (kind) {
    case "pump-fun":
      return {
        name: "Migrate",
        data: encodePumpMigrate(),
        authority: poolAuthorityOf(mint.address, world.derive),
        accounts: [reads(mint.address), writes(curve), pays(payer), writes(pool), reads(pumpSwap.programId)]
      }
    case "meteora":
      return {
        name: "MigrationDammV2",
        data: encodeDbcMigration(),
        authority: dbcPoolAuthority(world.derive),
        accounts: [...dammAccounts(world, curve, mint, pool), pays(payer)]
      }
    case "launchlab":
      return {
        name: "MigrateToCpswap",
        data: encodeLaunchLabMigration(),
        authority: launchLabAuthority(world.derive),
        accounts: launchLabGraduationAccounts(world, payer, { curve, mint: mint.address, pool })
      }
  }
}

/** The instruction that moved a coin from its curve to a pool. The trace is what happened to the world meanwhile. */
export const graduationCall = (
  world: World,
  payer: Address,
  launch: Launch,
  pool: Address,
  trace: ReadonlyArray<Happening>
): Call => {
  const { mint, kind, curve } = launch
  const program = programOf[kind]
  const events = eventAuthority(world.derive, program)
  const { accounts, authority, data, name } = graduationOf(world, payer, launch, pool)
  const inner = innerCalls(world, payer, authority, trace)
  const received = (isCoin: boolean) =>
    trace.reduce(
      (sum, one) => (one.kind === "paid" && (one.mint === mint.address) === isCoin ? sum + one.amount : sum),
      0n
    )
  const named = [...accounts, reads(SYSTEM_PROGRAM), reads(TOKEN_PROGRAM)]
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
    data,
    steps: [
      programLog(`Instruction: ${name}`),
      ...inner,
      ...(kind === "pump-fun" ? [programData(event), selfCall(program, events, event)] : [])
    ],
    units: 120_000
  }
}
