/**
 * Reads a transaction from the bytes that a Geyser sends, the message `TransactionInfo` of `geyser.proto`, in the same
 * shape as `readEntry` reads it from JSON. Makes no objects of the message: keys are found by their bytes, logs and
 * data of instructions become values when they are asked for.
 */
import { Result } from "effect"
import type { Address } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { Signature } from "../../domain/Signature.ts"
import { bytesField, EXACT_BYTES, varintField, WireReader } from "../geyser/wire.ts"
import { type Instruction, transfersBy } from "./instructions.ts"
import { keyTexts } from "./KeyTexts.ts"
import { DATA, ENDED, INVOKED, LONGEST_ADDRESS, type LogStep, PROGRAM, RAY_LOG, SHORTEST_ADDRESS } from "./logSteps.ts"
import { type Balance, type TokenAccount, tokenAccountsOf } from "./tokenAccounts.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import { MalformedTransaction, type Surroundings, type Transaction } from "./transaction.ts"

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** Digits of the largest amount, and of the largest that a double holds exactly whatever they are. */
const MOST_DIGITS = 20
const EXACT_DIGITS = 15
const DIGIT_ZERO = 48

const wire = new WireReader()

/** First byte and end of values in the message, in pairs. */
type Places = Array<number>

/** What the message states, and the places of what refers to keys: these may follow. */
class Parts {
  signature: Uint8Array | null = null
  signers = 0
  hasMeta = false
  error: string | null = null
  fee = 0n
  /** Null as soon as a key does not have 32 bytes. */
  keys: Array<Address> | null = []
  readonly writable: Places = []
  readonly readonly: Places = []
  readonly before: Array<bigint> = []
  readonly after: Array<bigint> = []
  readonly instructions: Places = []
  readonly groups: Places = []
  readonly balancesBefore: Places = []
  readonly balancesAfter: Places = []
  readonly logs: Places = []
  hasLogs = true
}

const notePlace = (places: Places): void => {
  const from = wire.pass()
  places.push(from, wire.at)
}

const addKey = (parts: Parts, from: number, to: number): void => {
  if (to - from !== KEY_BYTES) {
    parts.keys = null
  }
  parts.keys?.push(keyTexts.ofKey(wire.bytes, from))
}

const addKeys = (parts: Parts, places: Places): void => {
  for (let i = 0; i < places.length; i += 2) {
    addKey(parts, places[i] ?? 0, places[i + 1] ?? 0)
  }
}

const readMessage = (parts: Parts, end: number): void => {
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === bytesField(2)) {
      const from = wire.pass()
      addKey(parts, from, wire.at)
    } else if (tag === bytesField(4)) {
      notePlace(parts.instructions)
    } else {
      wire.skip(tag)
    }
  }
}

const readSigned = (parts: Parts, end: number): void => {
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === bytesField(1)) {
      parts.signers += 1
      const signature = wire.view()
      parts.signature ??= signature
    } else if (tag === bytesField(2)) {
      readMessage(parts, wire.end())
    } else {
      wire.skip(tag)
    }
  }
}

/** Decoders only look whether there is an error, so its binary form is not decoded. */
const readError = (end: number): string => {
  let error = ""
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === bytesField(1)) {
      error = Buffer.from(wire.view()).toString("base64")
    } else {
      wire.skip(tag)
    }
  }
  return error
}

/** Balances before the transaction that a double holds exactly, by place; -1 for others. Later places are stale. */
const doubles: Array<number> = []

const readBefore = (parts: Parts): void => {
  const from = wire.at
  const rounded = wire.number()
  const isExact = wire.at - from <= EXACT_BYTES
  doubles[parts.before.length] = isExact ? rounded : -1
  if (isExact) {
    parts.before.push(rounded === 0 ? 0n : BigInt(rounded))
  } else {
    wire.at = from
    parts.before.push(wire.bigint())
  }
}

/** Most balances are as they were before the transaction, which is read first: then both are one value. */
const readAfter = (parts: Parts): void => {
  const from = wire.at
  const place = parts.after.length
  const rounded = wire.number()
  const before = parts.before[place]
  if (before !== undefined && doubles[place] === rounded && wire.at - from <= EXACT_BYTES) {
    parts.after.push(before)
  } else {
    wire.at = from
    parts.after.push(wire.bigint())
  }
}

/** Balances in lamports. Returns false for other fields. */
const readLamports = (parts: Parts, tag: number): boolean => {
  switch (tag) {
    case bytesField(3):
      for (const end = wire.end(); !wire.isAt(end);) {
        readBefore(parts)
      }
      return true
    case varintField(3):
      readBefore(parts)
      return true
    case bytesField(4):
      for (const end = wire.end(); !wire.isAt(end);) {
        readAfter(parts)
      }
      return true
    case varintField(4):
      readAfter(parts)
      return true
    default:
      return false
  }
}

const readMeta = (parts: Parts, end: number): void => {
  parts.hasMeta = true
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    switch (tag) {
      case bytesField(1):
        parts.error = readError(wire.end())
        break
      case varintField(2):
        parts.fee = wire.bigint()
        break
      case bytesField(5):
        notePlace(parts.groups)
        break
      case bytesField(6):
        notePlace(parts.logs)
        break
      case bytesField(7):
        notePlace(parts.balancesBefore)
        break
      case bytesField(8):
        notePlace(parts.balancesAfter)
        break
      case varintField(11):
        parts.hasLogs = wire.number() === 0
        break
      case bytesField(12):
        notePlace(parts.writable)
        break
      case bytesField(13):
        notePlace(parts.readonly)
        break
      default:
        if (!readLamports(parts, tag)) {
          wire.skip(tag)
        }
    }
  }
}

const readInfo = (info: Uint8Array): Parts => {
  const parts = new Parts()
  wire.open(info)
  for (let tag = wire.next(info.length); tag !== 0; tag = wire.next(info.length)) {
    if (tag === bytesField(3)) {
      readSigned(parts, wire.end())
    } else if (tag === bytesField(4)) {
      readMeta(parts, wire.end())
    } else {
      wire.skip(tag)
    }
  }
  // The keys of lookup tables come last: those that may be written to, then the others.
  addKeys(parts, parts.writable)
  addKeys(parts, parts.readonly)
  return parts
}

/** An instruction whose data lies in the message. */
class WireInstruction implements Instruction {
  readonly program: Address
  readonly accounts: ReadonlyArray<Address>
  readonly transfers: ReadonlyArray<TokenTransfer>
  readonly outer: number
  readonly inner: number | null
  readonly height: number | null
  readonly #info: Uint8Array
  readonly #from: number
  readonly #to: number
  #data: Uint8Array | null = null

  constructor(
    { accounts, height, info, program }: Pick<Instruction, "accounts" | "height" | "program"> & { info: Uint8Array },
    [from, to]: readonly [number, number],
    { inner, outer }: Pick<Instruction, "inner" | "outer">
  ) {
    this.program = program
    this.accounts = accounts
    this.outer = outer
    this.inner = inner
    this.height = height
    this.#info = info
    this.#from = from
    this.#to = to
    this.transfers = transfersBy(program, accounts, () => this.data)
  }

  get data(): Uint8Array {
    if (this.#data === null) {
      const { buffer, byteOffset } = this.#info
      this.#data = new Uint8Array(buffer, byteOffset + this.#from, this.#to - this.#from)
    }
    return this.#data
  }
}

/** The keys that indexes from here to there name; null when one names none. */
const accountsAt = (from: number, to: number, keys: ReadonlyArray<Address>): ReadonlyArray<Address> | null => {
  const accounts: Array<Address> = []
  for (let at = from; at < to; at++) {
    const key = keys[wire.bytes[at] ?? 0]
    if (key === undefined) {
      return null
    }
    accounts.push(key)
  }
  return accounts
}

/** Reads the instruction that lies here; null when it names a key that is not listed. */
const readInstruction = (
  from: number,
  end: number,
  keys: ReadonlyArray<Address>,
  position: Pick<Instruction, "inner" | "outer">
): Instruction | null => {
  wire.at = from
  let [programAt, accountsFrom, accountsTo, dataFrom, dataTo] = [0, 0, 0, 0, 0]
  let height: number | null = null
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    switch (tag) {
      case varintField(1):
        programAt = wire.number()
        break
      case bytesField(2):
        accountsFrom = wire.pass()
        accountsTo = wire.at
        break
      case bytesField(3):
        dataFrom = wire.pass()
        dataTo = wire.at
        break
      case varintField(4):
        height = wire.number()
        break
      default:
        wire.skip(tag)
    }
  }
  const program = keys[programAt]
  const accounts = accountsAt(accountsFrom, accountsTo, keys)
  if (program === undefined || accounts === null) {
    return null
  }
  // Outer instructions have no height of their own.
  const called = { program, accounts, height: position.inner === null ? 1 : height, info: wire.bytes }
  return new WireInstruction(called, [dataFrom, dataTo], position)
}

/** Places of inner instructions by the index of their outer one. */
const readGroups = (groups: Places): ReadonlyMap<number, Places> => {
  const byOuter = new Map<number, Places>()
  for (let i = 0; i < groups.length; i += 2) {
    const inners: Places = []
    let outer = 0
    wire.at = groups[i] ?? 0
    const end = groups[i + 1] ?? 0
    for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
      if (tag === varintField(1)) {
        outer = wire.number()
      } else if (tag === bytesField(2)) {
        notePlace(inners)
      } else {
        wire.skip(tag)
      }
    }
    byOuter.set(outer, inners)
  }
  return byOuter
}

/** All instructions, in the order in which they ran; null when one names a key that is not listed. */
const readInstructions = (parts: Parts, keys: ReadonlyArray<Address>): ReadonlyArray<Instruction> | null => {
  const byOuter = readGroups(parts.groups)
  const instructions: Array<Instruction> = []
  for (let i = 0; i < parts.instructions.length; i += 2) {
    const outer = i / 2
    const inners = byOuter.get(outer) ?? []
    for (let inner = -1; inner < inners.length / 2; inner++) {
      const isOuter = inner === -1
      const [places, at] = isOuter ? [parts.instructions, i] : [inners, 2 * inner]
      const position = { outer, inner: isOuter ? null : inner }
      const instruction = readInstruction(places[at] ?? 0, places[at + 1] ?? 0, keys, position)
      if (instruction === null) {
        return null
      }
      instructions.push(instruction)
    }
  }
  return instructions
}

/** The amount that the digits here state; null when they are none. */
const amountAt = (from: number, to: number): bigint | null => {
  if (to === from || to - from > MOST_DIGITS) {
    return null
  }
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = (wire.bytes[at] ?? 0) - DIGIT_ZERO
    if (digit < 0 || digit > 9) {
      return null
    }
    value = value * 10 + digit
  }
  return value === 0 ? 0n : BigInt(to - from <= EXACT_DIGITS ? value : wire.textAt(from, to))
}

/** Fields of a balance that spell an address. */
const MINT = 0
const OWNER = 1
const PROGRAM_ID = 2
const SPELLED = 3

/**
 * What the balances before the transaction spell, by their place in the list and by field. The balances after it mostly
 * repeat that, so their texts need not be searched.
 */
class SpelledBefore {
  readonly #from: Array<number> = []
  readonly #text: Array<Address> = []

  /** Begins a balance. What stands there may be of another message. */
  begin(place: number): void {
    this.#from.fill(-1, place * SPELLED, (place + 1) * SPELLED)
    while (this.#from.length < (place + 1) * SPELLED) {
      this.#from.push(-1)
    }
  }

  note(place: number, field: number, from: number, text: Address): void {
    this.#from[place * SPELLED + field] = from
    this.#text[place * SPELLED + field] = text
  }

  /** The text of this balance, if the same letters stand here; null otherwise. */
  repeated(place: number, field: number, from: number, to: number): Address | null {
    const known = this.#from[place * SPELLED + field] ?? -1
    const text = this.#text[place * SPELLED + field]
    if (known === -1 || text === undefined || text.length !== to - from) {
      return null
    }
    const { bytes } = wire
    for (let at = from, before = known; at < to; at++, before++) {
      if (bytes[at] !== bytes[before]) {
        return null
      }
    }
    return text
  }
}

const spelledBefore = new SpelledBefore()

/** A balance in one of the two lists. `before` counts the balances before the transaction, as far as they are read. */
interface BalancePlace {
  readonly isAfter: boolean
  readonly place: number
  readonly before: number
}

/** The address that a text spells; null for text of another length. */
const readAddress = ({ before, isAfter, place }: BalancePlace, field: number): Address | null => {
  const from = wire.pass()
  const to = wire.at
  if (to - from < SHORTEST_ADDRESS || to - from > LONGEST_ADDRESS) {
    return null
  }
  const repeated = isAfter && place < before ? spelledBefore.repeated(place, field, from, to) : null
  const text = repeated ?? keyTexts.ofText(wire.bytes, from, to)
  if (!isAfter) {
    spelledBefore.note(place, field, from, text)
  }
  return text
}

const readAmount = (end: number): { readonly amount: bigint | null; readonly decimals: number } => {
  let amount: bigint | null = null
  let decimals = 0
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === varintField(2)) {
      decimals = wire.number()
    } else if (tag === bytesField(3)) {
      const from = wire.pass()
      amount = amountAt(from, wire.at)
    } else {
      wire.skip(tag)
    }
  }
  return { amount, decimals }
}

/** Reads the token balance that lies here; null when it is malformed. */
const readBalance = (from: number, end: number, keys: ReadonlyArray<Address>, listed: BalancePlace): Balance | null => {
  wire.at = from
  if (!listed.isAfter) {
    spelledBefore.begin(listed.place)
  }
  let [index, decimals] = [0, 0]
  let amount: bigint | null = null
  let [mint, owner, program]: Array<Address | null> = [null, null, null]
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    switch (tag) {
      case varintField(1):
        index = wire.number()
        break
      case bytesField(2):
        mint = readAddress(listed, MINT)
        break
      case bytesField(3):
        ;({ amount, decimals } = readAmount(wire.end()))
        break
      case bytesField(4):
        owner = readAddress(listed, OWNER)
        break
      case bytesField(5):
        program = readAddress(listed, PROGRAM_ID)
        break
      default:
        wire.skip(tag)
    }
  }
  const address = keys[index]
  return address === undefined || amount === null || mint === null || mint === undefined
    ? null
    : { address, mint, owner: owner ?? null, program: program ?? null, decimals, amount }
}

/** The balances of a list; null when one is malformed. `before` are those before the transaction, for those after it. */
const readBalances = (
  places: Places,
  keys: ReadonlyArray<Address>,
  before: ReadonlyArray<Balance> | null
): ReadonlyArray<Balance> | null => {
  const balances: Array<Balance> = []
  for (let i = 0; i < places.length; i += 2) {
    const listed = { isAfter: before !== null, place: i / 2, before: before?.length ?? 0 }
    const balance = readBalance(places[i] ?? 0, places[i + 1] ?? 0, keys, listed)
    if (balance === null) {
      return null
    }
    balances.push(balance)
  }
  return balances
}

/** Keys and what refers to them. */
type Resolved = Pick<Transaction, "instructions" | "keys" | "signature" | "tokenAccounts">

/** A transaction whose log lies in the message. */
class WireTransaction implements Transaction {
  readonly signature: Signature
  readonly slot: number
  readonly blockTime: number | null
  readonly indexInBlock: number | null
  readonly error: unknown
  readonly feeLamports: bigint
  readonly keys: ReadonlyArray<Address>
  readonly signers: number
  readonly lamportsBefore: ReadonlyArray<bigint>
  readonly lamportsAfter: ReadonlyArray<bigint>
  readonly tokenAccounts: ReadonlyMap<Address, TokenAccount>
  readonly instructions: ReadonlyArray<Instruction>
  readonly #info: Uint8Array
  readonly #log: Places | null

  constructor(info: Uint8Array, parts: Parts, resolved: Resolved, surroundings: Surroundings) {
    this.signature = resolved.signature
    this.slot = surroundings.slot
    this.blockTime = surroundings.blockTime
    this.indexInBlock = surroundings.indexInBlock
    this.error = parts.error
    this.feeLamports = parts.fee
    this.keys = resolved.keys
    this.signers = parts.signers
    this.lamportsBefore = parts.before
    this.lamportsAfter = parts.after
    this.tokenAccounts = resolved.tokenAccounts
    this.instructions = resolved.instructions
    this.#info = info
    this.#log = parts.hasLogs ? parts.logs : null
  }

  get log(): ReadonlyArray<LogStep> | null {
    const places = this.#log
    if (places === null) {
      return null
    }
    const { buffer, byteLength, byteOffset } = this.#info
    const bytes = Buffer.from(buffer, byteOffset, byteLength)
    const steps: Array<LogStep> = []
    for (let i = 0; i < places.length; i += 2) {
      const step = stepAt(bytes, places[i] ?? 0, places[i + 1] ?? 0)
      if (step !== undefined) {
        steps.push(step)
      }
    }
    return steps
  }
}

const codesOf = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

const codes = {
  program: codesOf(PROGRAM),
  payloads: [codesOf(DATA), codesOf(RAY_LOG)],
  invoked: codesOf(INVOKED),
  ended: ENDED.map(codesOf)
}
const SPACE = 32

/** True when the letters stand here, before the end of the line. */
const startsAt = (bytes: Uint8Array, at: number, end: number, letters: Uint8Array): boolean => {
  if (at + letters.length > end) {
    return false
  }
  for (let i = 0; i < letters.length; i++) {
    if (bytes[at + i] !== letters[i]) {
      return false
    }
  }
  return true
}

/** The step of the line that lies here, as `stepsIn` reads it from text; undefined for other lines. */
const stepAt = (bytes: Buffer, from: number, to: number): LogStep | undefined => {
  if (!startsAt(bytes, from, to, codes.program)) {
    return undefined
  }
  const at = from + codes.program.length
  for (const payload of codes.payloads) {
    if (startsAt(bytes, at, to, payload)) {
      return Buffer.from(bytes.toString("latin1", at + payload.length, to), "base64")
    }
  }
  let end = at
  while (end < to && bytes[end] !== SPACE) {
    end += 1
  }
  if (end - at < SHORTEST_ADDRESS || end - at > LONGEST_ADDRESS) {
    return undefined
  }
  if (startsAt(bytes, end + 1, to, codes.invoked)) {
    return keyTexts.ofText(bytes, at, end)
  }
  return codes.ended.some((word) => startsAt(bytes, end + 1, to, word)) ? null : undefined
}

const malformed = (detail: string): Result.Result<never, MalformedTransaction> =>
  Result.fail(new MalformedTransaction({ detail }))

/**
 * Reads the message `TransactionInfo`. Fails with the malformed part, and when the outcome is missing. Throws a
 * `MalformedMessage` when the bytes are not a whole message. The transaction refers to the bytes.
 */
export const readWireTransaction = (
  info: Uint8Array,
  surroundings: Surroundings
): Result.Result<Transaction, MalformedTransaction> => {
  const parts = readInfo(info)
  const { keys } = parts
  if (parts.signature?.length !== SIGNATURE_BYTES) {
    return malformed("message or signatures")
  }
  if (!parts.hasMeta) {
    return malformed("no meta")
  }
  if (keys === null || keys.length < parts.signers) {
    return malformed("account keys")
  }
  if (parts.before.length !== keys.length || parts.after.length !== keys.length) {
    return malformed("fee or balances")
  }
  const instructions = readInstructions(parts, keys)
  if (instructions === null) {
    return malformed("instructions")
  }
  const before = readBalances(parts.balancesBefore, keys, null)
  const after = before === null ? null : readBalances(parts.balancesAfter, keys, before)
  if (before === null || after === null) {
    return malformed("token balances")
  }
  // The text of 64 bytes.
  const signature = toBase58(parts.signature) as Signature
  const tokenAccounts = tokenAccountsOf(before, after, instructions)
  return Result.succeed(
    new WireTransaction(info, parts, { signature, keys, instructions, tokenAccounts }, surroundings)
  )
}
