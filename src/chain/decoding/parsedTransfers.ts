/** Reads the same effects from instructions that a node has already parsed (`jsonParsed`). */
import type { Address } from "../../domain/Address.ts"
import { amountFromDigits, type Fields, isFields, lamportsFrom, looksLikeAddress } from "./jsonFields.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"

const address = (info: Fields, name: string): Address | null => {
  const value = info[name]
  return looksLikeAddress(value) ? value : null
}

const amountOf = (info: Fields): bigint | null => {
  const { amount, tokenAmount } = info
  return isFields(tokenAmount) ? amountFromDigits(tokenAmount["amount"]) : amountFromDigits(amount)
}

const transfer = (info: Fields): TokenTransfer | null => {
  const source = address(info, "source")
  const destination = address(info, "destination")
  const amount = amountOf(info)
  if (source === null || destination === null || amount === null) {
    return null
  }
  const authority = address(info, "authority") ?? address(info, "multisigAuthority")
  return { kind: "transfer", source, destination, authority, mint: address(info, "mint"), amount }
}

const opened = (info: Fields): TokenTransfer | null => {
  const account = address(info, "account")
  const mint = address(info, "mint")
  const owner = address(info, "owner")
  return account === null || mint === null || owner === null ? null : { kind: "open", account, mint, owner }
}

const closed = (info: Fields): TokenTransfer | null => {
  const account = address(info, "account")
  const destination = address(info, "destination")
  return account === null || destination === null ? null : { kind: "close", account, destination }
}

const supply = (kind: "mint" | "burn", info: Fields): TokenTransfer | null => {
  const account = address(info, "account")
  const mint = address(info, "mint")
  const amount = amountOf(info)
  return account === null || mint === null || amount === null ? null : { kind, account, mint, amount }
}

const lamports = (info: Fields, to: string, created: boolean): TokenTransfer | "unknown" | null => {
  const source = address(info, "source")
  const destination = address(info, to)
  const amount = lamportsFrom(info["lamports"])
  // The number is larger than a double can hold, so the amount is lost.
  if (amount === null && Number.isInteger(info["lamports"])) {
    return "unknown"
  }
  return source === null || destination === null || amount === null
    ? null
    : { kind: "lamports", source, destination, amount, created }
}

const tokenTypes: Readonly<Record<string, (info: Fields) => TokenTransfer | null>> = {
  transfer,
  transferChecked: transfer,
  transferCheckedWithFee: transfer,
  initializeAccount: opened,
  initializeAccount2: opened,
  initializeAccount3: opened,
  closeAccount: closed,
  mintTo: (info) => supply("mint", info),
  mintToChecked: (info) => supply("mint", info),
  burn: (info) => supply("burn", info),
  burnChecked: (info) => supply("burn", info)
}

const systemTypes: Readonly<Record<string, (info: Fields) => TokenTransfer | "unknown" | null>> = {
  transfer: (info) => lamports(info, "destination", false),
  transferWithSeed: (info) => lamports(info, "destination", false),
  createAccount: (info) => lamports(info, "newAccount", true),
  createAccountWithSeed: (info) => lamports(info, "newAccount", true)
}

const typesOf = (program: unknown) =>
  program === "spl-token" || program === "spl-token-2022" ? tokenTypes : program === "system" ? systemTypes : {}

/** The effect of a parsed instruction; null when it has none, "malformed" when parts are missing. */
export const parsedTransfer = (program: unknown, parsed: unknown): TokenTransfer | "malformed" | null => {
  if (!isFields(parsed) || typeof parsed["type"] !== "string") {
    return null
  }
  const types = typesOf(program)
  const read = Object.hasOwn(types, parsed["type"]) ? types[parsed["type"]] : undefined
  if (read === undefined) {
    return null
  }
  const { info } = parsed
  const moved = isFields(info) ? (read(info) ?? "malformed") : "malformed"
  return moved === "unknown" ? null : moved
}
