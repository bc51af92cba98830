/** The state of a program by its deployment and what is stored of it. Pure. */
import type { ProgramState } from "../domain/market/ProgramState.ts"
import type { Deployment, NotDeployed } from "./deployment.ts"
import type { ProofRecord } from "./ProofStore.ts"

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
    return { ...known, state: "unproven", detail: joined(since, obstacle) }
  }
  if (proof === null) {
    return { ...known, state: obstacle === null ? "unchanged" : "unproven", detail: obstacle }
  }
  if (proof.wrong > 0) {
    const { exact, pools, slot, wrong } = proof
    const detail = `${wrong} of ${wrong + exact} executed swaps differ from their quotes, on ${pools} pools at slot ${slot}`
    return { ...known, state: "wrong", detail }
  }
  return { ...known, state: "proven", provenAtSlot: proof.slot, detail: null }
}
