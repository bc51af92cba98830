/** The state of a program by its deployment and what is stored of it. Pure. */
import type { ProgramState } from "../domain/market/ProgramState.ts"
import type { Deployment, NotDeployed } from "./deployment.ts"
import type { ProofOutcome, ProofRecord } from "./ProofStore.ts"

/** A program as it is deployed, and its record. */
export interface KnownProgram {
  readonly dex: string
  /** As the node reports it; null before the first read. */
  readonly deployment: Deployment | NotDeployed | null
  /** Null before the store was read. */
  readonly record: ProofRecord | null
  /** Slot of a deployment that the operator takes as it is; null for none. */
  readonly acceptedSlot: number | null
  /** The reason why the deployment cannot be proven here; null where it can, or where proofs are not asked for. */
  readonly obstacle: string | null
}

const joined = (...parts: ReadonlyArray<string | null>): string | null =>
  parts.filter((part) => part !== null).join("; ") || null

/** Slot of the deployment. A node that is behind reports an older one than the known. */
export const deploymentSlot = ({ slot }: Deployment, { knownSlot }: ProofRecord): number | null =>
  slot === null || knownSlot === null ? slot : Math.max(slot, knownSlot)

/** True for the state of a program that needs the operator. */
export const isAmiss = ({ state, upgraded }: ProgramState): boolean =>
  state === "wrong" || (state === "unproven" && upgraded === true)

/** Exact swaps of a proof, of up to 160: with fewer, too little was compared. */
export const LEAST_EXACT = 16

/** The reason for which a proof without a wrong swap proves nothing; null where it does. */
export const shortfall = (exact: number): string | null =>
  exact < LEAST_EXACT ? `${exact} executed swaps were compared, and ${LEAST_EXACT} are needed` : null

const mismatch = ({ exact, pools, slot, wrong }: ProofOutcome): string =>
  `${wrong} of ${wrong + exact} executed swaps differ from their quotes, on ${pools} pools at slot ${slot}`

/**
 * The reason for which the prices of a program count as wrong; null where they do not. The last proof decides, also while the
 * deployment cannot be read and after an upgrade, until the operator accepts the slot of that.
 */
export const wrongness = ({ acceptedSlot, deployment, record }: KnownProgram): string | null => {
  if (record === null || record.proof === null || record.proof.wrong === 0) {
    return null
  }
  const slot = deployment === null || "reason" in deployment ? null : deploymentSlot(deployment, record)
  const isAccepted = slot !== null && slot !== record.knownSlot && slot === acceptedSlot
  return isAccepted ? null : `its prices were found wrong: ${mismatch(record.proof)}`
}

/** See `ProgramState`. */
export const programState = ({ acceptedSlot, deployment, dex, obstacle, record }: KnownProgram): ProgramState => {
  const unknown = { dex, upgraded: null, upgradeable: null, deployedAtSlot: null, provenAtSlot: null }
  if (deployment !== null && "reason" in deployment) {
    return { ...unknown, state: "unknown", detail: deployment.reason }
  }
  if (deployment === null || record === null) {
    return { ...unknown, state: "unknown", detail: null }
  }
  const { knownSlot, proof } = record
  const deployedAtSlot = deploymentSlot(deployment, record)
  const upgraded = deployedAtSlot !== knownSlot
  const known = { dex, upgraded, upgradeable: !deployment.isImmutable, deployedAtSlot, provenAtSlot: null }
  if (upgraded && acceptedSlot !== null && acceptedSlot === deployedAtSlot) {
    return { ...known, upgraded: false, state: "unchanged", detail: "upgraded; accepted by PROGRAMS_ACCEPTED" }
  }
  if (upgraded) {
    const since = `upgraded at slot ${deployedAtSlot ?? "unknown"}, known at slot ${knownSlot ?? "unknown"}`
    const before = proof !== null && proof.wrong > 0 ? `before, its prices were found wrong: ${mismatch(proof)}` : null
    return { ...known, state: "unproven", detail: joined(since, before, obstacle) }
  }
  if (proof === null) {
    return { ...known, state: obstacle === null ? "unchanged" : "unproven", detail: obstacle }
  }
  if (proof.wrong > 0) {
    return { ...known, state: "wrong", detail: mismatch(proof) }
  }
  const lacking = shortfall(proof.exact)
  if (lacking !== null) {
    return { ...known, state: "unproven", detail: joined(lacking, obstacle) }
  }
  return { ...known, state: "proven", provenAtSlot: proof.slot, detail: null }
}
