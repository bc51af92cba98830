import { Address } from "../../domain/Address.ts"

/** An account that an instruction names. */
export interface AccountRef {
  readonly address: Address
  readonly writable: boolean
  readonly signer: boolean
}

/** An executed instruction with its log lines and inner calls. */
export interface Call {
  readonly program: Address
  readonly accounts: ReadonlyArray<AccountRef>
  readonly data: Uint8Array
  /** Log lines and inner calls in the order they happened. */
  readonly steps: ReadonlyArray<Call | string>
  /** Compute units of the call itself, without its inner calls. */
  readonly units: number
  /** True for programs of the runtime, which do not log their units. */
  readonly native?: boolean
}

export const reads = (address: Address): AccountRef => ({ address, writable: false, signer: false })
export const writes = (address: Address): AccountRef => ({ address, writable: true, signer: false })
export const signs = (address: Address): AccountRef => ({ address, writable: false, signer: true })
export const pays = (address: Address): AccountRef => ({ address, writable: true, signer: true })

/** The memo program. Newer swap instructions take it as an account. */
export const memoProgram: AccountRef = reads(Address.make("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"))

/** Compute units of a call and all its inner calls. */
export const unitsOf = ({ units, steps }: Call): number =>
  steps.reduce((sum, step) => (typeof step === "string" ? sum : sum + unitsOf(step)), units)

/** A line that a program logs with `msg!`. */
export const programLog = (message: string): string => `Program log: ${message}`

/** A line by which a program logs an event. */
export const programData = (event: Uint8Array): string => `Program data: ${Buffer.from(event).toString("base64")}`
