/**
 * An AMM program that is small enough to check by hand, and that Fathom has no code for: x·y = k with a fee. Its swap
 * takes the accounts pool, vault in, vault out, user's account in, user's account out, user, authority, Token program,
 * and the data tag (1 byte, 7) and amount (8 bytes).
 */
import { createHash } from "node:crypto"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { type Address, addressFromBytes, addressToBytes, type Mint } from "../../src/domain/Address.ts"
import { isOnCurve } from "../../src/chain/programAddress.ts"
import { key, pack, u64, u8, utf8 } from "../../src/programs/layout/pack.ts"
import { plainMint, TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { type Call, reads, signs, writes } from "../../src/programs/transactions/Call.ts"
import { holding } from "../../src/quotes/execution/traderAccounts.ts"
import * as bpf from "./bpf.ts"

const SEED = utf8("authority")
const TAG = 7
const POOL_SIZE = 144
const TOKEN_SIZE = 165

/** Where the runtime puts the input of a program. */
const INPUT = 0x4_0000_0000n
/** Bytes before an account's data: marks, address, owner, lamports and length. */
const BEFORE_DATA = 88
/** Room to grow that follows an account's data. */
const GROWTH = 10_240

const aligned = (size: number): number => (size + 7) & ~7
const spanOf = (size: number): number => aligned(BEFORE_DATA + size + GROWTH) + 8

/** The part of an account in a swap. `state` is an account of the program that it does not look at. */
type Role = "pool" | "vaultIn" | "vaultOut" | "userIn" | "userOut" | "user" | "authority" | "state" | "tokens"

const sizeOf: Record<Role, number> = {
  pool: POOL_SIZE,
  vaultIn: TOKEN_SIZE,
  vaultOut: TOKEN_SIZE,
  userIn: TOKEN_SIZE,
  userOut: TOKEN_SIZE,
  user: 0,
  authority: 0,
  state: 0,
  tokens: 0
}

/** How a version of the program reads its accounts and data, and what it charges. */
export interface TinyAmmVersion {
  readonly feeBps: number
  /** Offset of the amount in the data. */
  readonly amountAt: number
  /** The first byte of a swap. */
  readonly tag?: number
  /**
   * The accounts in order, up to the Token program. Without an authority among them, the user is the authority of the
   * vaults.
   */
  readonly order?: ReadonlyArray<Role>
}

const ORDER: ReadonlyArray<Role> = ["pool", "vaultIn", "vaultOut", "userIn", "userOut", "user", "authority", "tokens"]

/** Stack slots, as offsets from register 10. */
const slot = { meta: -512, instruction: -448, infos: -400, data: -48, seeds: -32, signer: -128, amount: -16, out: -8 }

const put = (offset: number, value: bigint): ReadonlyArray<bpf.Code> => [
  bpf.loadValue(2, value),
  bpf.store(10, offset, 2)
]

const putPointer = (offset: number, to: number): ReadonlyArray<bpf.Code> => [
  bpf.move(2, 10),
  bpf.addValue(2, to),
  bpf.store(10, offset, 2)
]

/** Writes the program for one order of accounts. */
class Writer {
  readonly #order: ReadonlyArray<Role>

  constructor(order: ReadonlyArray<Role>) {
    this.#order = order
  }

  /** Where a part of an account lies in the input. */
  at(role: Role, offset: number): bigint {
    const before = this.#order.slice(0, this.#order.indexOf(role))
    return INPUT + BigInt(8 + before.reduce((sum, one) => sum + spanOf(sizeOf[one]), 0) + offset)
  }

  get authority(): Role {
    return this.#order.includes("authority") ? "authority" : "user"
  }

  /** The description of one account, 56 bytes, for a call of another program. */
  #info(offset: number, role: Role): ReadonlyArray<bpf.Code> {
    const isSigner = role === "user" ? 1n : 0n
    const isWritable = role === "user" || role === "authority" ? 0n : 1n
    return [
      ...put(offset, this.at(role, 8)),
      ...put(offset + 8, this.at(role, 72)),
      ...put(offset + 16, BigInt(sizeOf[role])),
      ...put(offset + 24, this.at(role, BEFORE_DATA)),
      ...put(offset + 32, this.at(role, 40)),
      ...put(offset + 40, 0n),
      ...put(offset + 48, isSigner | (isWritable << 8n))
    ]
  }

  /** A transfer of the Token program. The owner signs. */
  transfer(from: Role, to: Role, owner: Role, amountSlot: number): ReadonlyArray<bpf.Code> {
    return [
      ...put(slot.meta, this.at(from, 8)),
      ...put(slot.meta + 8, 1n),
      ...put(slot.meta + 16, this.at(to, 8)),
      ...put(slot.meta + 24, 1n),
      ...put(slot.meta + 32, this.at(owner, 8)),
      ...put(slot.meta + 40, 1n << 8n),
      // Data: 3, then the amount.
      bpf.loadValue(2, 3n),
      bpf.storeByte(10, slot.data, 2),
      bpf.load(2, 10, amountSlot),
      bpf.store(10, slot.data + 1, 2),
      ...put(slot.instruction, this.at("tokens", 8)),
      ...putPointer(slot.instruction + 8, slot.meta),
      ...put(slot.instruction + 16, 3n),
      ...putPointer(slot.instruction + 24, slot.data),
      ...put(slot.instruction + 32, 9n),
      ...this.#info(slot.infos, from),
      ...this.#info(slot.infos + 56, to),
      ...this.#info(slot.infos + 112, owner),
      // Seeds of the authority: the word, and the bump near the pool's end.
      ...putPointer(slot.signer, slot.signer + 16),
      ...put(slot.signer + 8, 2n),
      ...putPointer(slot.signer + 16, slot.seeds),
      ...put(slot.signer + 24, BigInt(SEED.length)),
      ...put(slot.signer + 32, this.at("pool", BEFORE_DATA + 136)),
      ...put(slot.signer + 40, 1n),
      ...Array.from(SEED).flatMap((byte, index) => [
        bpf.loadValue(2, BigInt(byte)),
        bpf.storeByte(10, slot.seeds + index, 2)
      ]),
      bpf.move(1, 10),
      bpf.addValue(1, slot.instruction),
      bpf.move(2, 10),
      bpf.addValue(2, slot.infos),
      bpf.loadValue(3, 3n),
      bpf.move(4, 10),
      bpf.addValue(4, slot.signer),
      bpf.loadValue(5, owner === "authority" ? 1n : 0n),
      bpf.call("sol_invoke_signed_c"),
      // An error of the other program ends this one.
      bpf.skipWhen(0, 0, 1),
      bpf.exit
    ]
  }

  /** Puts the address of the instruction's data into register 6, past the Token program and `more` empty accounts. */
  findData(more: number): ReadonlyArray<bpf.Code> {
    const pass = [bpf.load(7, 6), bpf.addValue(6, 8 + GROWTH), bpf.add(6, 7), bpf.addValue(6, 7), bpf.andValue(6, -8)]
    return [
      bpf.loadValue(6, this.at("tokens", 80)),
      ...pass,
      ...Array.from({ length: more }, () => [bpf.addValue(6, 8 + 80), ...pass]).flat(),
      bpf.addValue(6, 16)
    ]
  }
}

/** The program. The fee is taken from the input. `more` is how many accounts follow the Token program. */
export const tinyAmm = (
  { amountAt, feeBps, order = ORDER, tag = TAG }: TinyAmmVersion,
  more: number = 0
): Uint8Array => {
  const writer = new Writer(order)
  return bpf.program([
    ...writer.findData(more),
    bpf.loadByte(2, 6),
    bpf.skipWhen(2, tag, 2),
    bpf.move(0, 2),
    bpf.exit,
    bpf.load(3, 6, amountAt),
    bpf.store(10, slot.amount, 3),
    // The input after the fee.
    bpf.move(4, 3),
    bpf.multiplyValue(4, feeBps),
    bpf.divideValue(4, 10_000),
    bpf.subtract(3, 4),
    bpf.loadValue(4, writer.at("vaultIn", BEFORE_DATA + 64)),
    bpf.load(4, 4),
    bpf.add(4, 3),
    bpf.loadValue(5, writer.at("vaultOut", BEFORE_DATA + 64)),
    bpf.load(5, 5),
    bpf.multiply(5, 3),
    bpf.divide(5, 4),
    bpf.store(10, slot.out, 5),
    ...writer.transfer("userIn", "vaultIn", "user", slot.amount),
    ...writer.transfer("vaultOut", "userOut", writer.authority, slot.out),
    bpf.loadValue(0, 0n),
    bpf.exit
  ])
}

/** A program that never ends. The runtime stops it when its compute units are used up. */
export const endlessProgram: Uint8Array = bpf.program([bpf.jump(-1), bpf.call("sol_panic_"), bpf.exit])

/** What a swap pays, computed by hand. */
export const tinyAmmOut = (amount: bigint, reserveIn: bigint, reserveOut: bigint, feeBps: number): bigint => {
  const input = amount - (amount * BigInt(feeBps)) / 10_000n
  return (reserveOut * input) / (reserveIn + input)
}

/** The authority of a program's vaults, with its bump. */
const authorityOf = (programId: Address): { readonly authority: Address; readonly bump: number } => {
  for (let bump = 255; bump >= 0; bump--) {
    const digest = createHash("sha256")
      .update(pack(SEED, u8(bump), addressToBytes(programId), utf8("ProgramDerivedAddress")))
      .digest()
    if (!isOnCurve(digest)) {
      return { authority: addressFromBytes(digest), bump }
    }
  }
  throw new Error("no address")
}

/** A pool of the program, with its vaults and mints. */
export interface TinyPool {
  readonly pool: Address
  readonly mintA: Mint
  readonly mintB: Mint
  readonly vaultA: Address
  readonly vaultB: Address
  readonly reserves: readonly [bigint, bigint]
}

/** The accounts of a pool. Its own authority holds the vaults, or the given owner. */
export const tinyPoolAccounts = (
  programId: Address,
  { mintA, mintB, pool, reserves, vaultA, vaultB }: TinyPool,
  owner?: Address
): ReadonlyArray<OnChainAccount> => {
  const { authority: own, bump } = authorityOf(programId)
  const authority = owner ?? own
  const data = pack(key(mintA), key(mintB), key(vaultA), key(vaultB), new Uint8Array(8), u8(bump), new Uint8Array(7))
  const [a, b] = [plainMint(mintA), plainMint(mintB)]
  return [
    { address: pool, owner: programId, lamports: 10_000_000n, data, slot: 0 },
    a,
    b,
    holding(vaultA, authority, a, reserves[0]),
    holding(vaultB, authority, b, reserves[1])
  ]
}

/** One swap of the program. */
export const tinySwap = (
  programId: Address,
  { pool, vaultA, vaultB }: TinyPool,
  swap: {
    readonly aToB: boolean
    readonly amount: bigint
    readonly from: Address
    readonly to: Address
    readonly trader: Address
    /** Offset of the amount in the data: 1 or more. */
    readonly amountAt?: number
  }
): Call => {
  const [vaultIn, vaultOut] = swap.aToB ? [vaultA, vaultB] : [vaultB, vaultA]
  return {
    program: programId,
    accounts: [
      ...[pool, vaultIn, vaultOut, swap.from, swap.to].map(writes),
      signs(swap.trader),
      reads(authorityOf(programId).authority),
      reads(TOKEN_PROGRAM)
    ],
    data: pack(u8(TAG), new Uint8Array((swap.amountAt ?? 1) - 1), u64(swap.amount)),
    steps: [],
    units: 0
  }
}
