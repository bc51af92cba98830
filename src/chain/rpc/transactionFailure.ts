/** Translates a node's transaction error into the terms of the API. */
import { Result, Schema } from "effect"
import type { TransactionFailure } from "../../api/schemas/TransactionReport.ts"
import { type Meaning, meaningOf } from "./programErrors.ts"

type Code = TransactionFailure["code"]

const InstructionError = Schema.Struct({
  InstructionError: Schema.Tuple([
    Schema.Int,
    Schema.Union([Schema.String, Schema.Struct({ Custom: Schema.Int }), Schema.Record(Schema.String, Schema.Unknown)])
  ])
})
const decodeInstructionError = Schema.decodeUnknownResult(InstructionError)

/** Errors of the whole transaction, by the name the cluster gives them. Any other error is `other`. */
const wholeCodes: Readonly<Record<string, Code>> = {
  BlockhashNotFound: "blockhash_expired",
  InsufficientFundsForFee: "insufficient_funds",
  InsufficientFundsForRent: "insufficient_funds",
  AccountBorrowOutstanding: "account_error",
  AccountInUse: "account_error",
  AccountLoadedTwice: "account_error",
  AccountNotFound: "account_error",
  AddressLookupTableNotFound: "account_error",
  InvalidAccountForFee: "account_error",
  InvalidAccountIndex: "account_error",
  InvalidAddressLookupTableData: "account_error",
  InvalidAddressLookupTableIndex: "account_error",
  InvalidAddressLookupTableOwner: "account_error",
  InvalidProgramForExecution: "account_error",
  InvalidRentPayingAccount: "account_error",
  InvalidWritableAccount: "account_error",
  ProgramAccountNotFound: "account_error",
  ProgramExecutionTemporarilyRestricted: "account_error",
  TooManyAccountLocks: "account_error"
}

// Programs cannot write these lines: whatever they log starts with "Program log:" or "Program data:".
const FAILED = /^Program (?<program>[1-9A-HJ-NP-Za-km-z]{32,44}) failed: /u
const ANCHOR = /^Program log: AnchorError .*Error Code: (?<name>\w+)\. Error Number: (?<code>\d+)\./u

/** The program that raised the error, which is the innermost failed one, and the name that it logged. */
const raiserIn = (logs: ReadonlyArray<string>, code: number) => {
  const at = logs.findIndex((line) => FAILED.test(line))
  const program = FAILED.exec(logs[at] ?? "")?.groups?.["program"]
  const names = logs
    .slice(0, Math.max(at, 0))
    .map((line) => ANCHOR.exec(line)?.groups)
    .filter((logged) => logged?.["code"] === String(code))
  return { program, name: names.at(-1)?.["name"] }
}

const nameOf = (error: unknown): string =>
  typeof error === "object" && error !== null ? (Object.keys(error)[0] ?? "") : String(error)

const wholeFailure = (error: unknown): TransactionFailure => {
  const name = nameOf(error)
  const code = Object.hasOwn(wholeCodes, name) ? wholeCodes[name] : undefined
  return { code: code ?? "other", instructionIndex: null, customCode: null, message: name === "" ? null : name }
}

const customFailure = (
  instructionIndex: number,
  customCode: number,
  logs: ReadonlyArray<string>
): TransactionFailure => {
  const { program, name } = raiserIn(logs, customCode)
  const meaning: Meaning | undefined = program === undefined ? undefined : meaningOf(program, customCode, name)
  const label = name === undefined ? "" : ` (${name})`
  const raiser = program === undefined ? "" : ` of ${program}`
  return {
    code: meaning ?? "instruction_error",
    instructionIndex,
    customCode,
    message: `Instruction ${instructionIndex} failed with error ${customCode}${label}${raiser}.`
  }
}

/**
 * The failure of the transaction. Pass the logs of the transaction, or none when they are unknown. Without logs the
 * program behind an error number is unknown, so no number is interpreted.
 */
export const transactionFailure = (error: unknown, logs: ReadonlyArray<string>): TransactionFailure => {
  const decoded = decodeInstructionError(error)
  if (Result.isFailure(decoded)) {
    return wholeFailure(error)
  }
  const [instructionIndex, reason] = decoded.success.InstructionError
  if (typeof reason === "object" && "Custom" in reason && typeof reason.Custom === "number") {
    return customFailure(instructionIndex, reason.Custom, logs)
  }
  const name = nameOf(reason)
  return {
    code: name === "InsufficientFunds" ? "insufficient_funds" : "instruction_error",
    instructionIndex,
    customCode: null,
    message: `Instruction ${instructionIndex} failed: ${name}.`
  }
}
