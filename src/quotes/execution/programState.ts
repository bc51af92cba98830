/** Decides the state of a program from its deployment and its stored record. Pure. */
import type { ProgramState } from "../../api/schemas/ProgramState.ts"
import type { Deployment, NotDeployed } from "./deployment.ts"
import type { Policy } from "./proofSettings.ts"
import type { ProofOutcome, ProofRecord } from "./ProofStore.ts"

/** What is known of a program when its state is decided. */
export interface KnownProgram {
  readonly dex: string
  /** As the node reports it; null before the first read. */
  readonly deployment: Deployment | NotDeployed | null
  /** Null before the store was read. */
  readonly record: ProofRecord | null
  /** Slot of the deployment that the operator accepts without a proof; null when there is none. */
  readonly acceptedSlot: number | null
  /** Why the deployment cannot be proven here; null when it can, or when proofs are off. */
  readonly obstacle: string | null
}

const joined = (...parts: ReadonlyArray<string | null>): string | null =>
  parts.filter((part) => part !== null).join("; ") || null

/**
 * Slot of the deployment. When the node is behind, it reports an older slot than the known one, and the known one
 * wins.
 */
export const deploymentSlot = ({ slot }: Deployment, { knownSlot }: ProofRecord): number | null =>
  slot === null || knownSlot === null ? slot : Math.max(slot, knownSlot)

/** True when the operator should look at the program. */
export const isAmiss = ({ state, upgraded }: ProgramState): boolean =>
  state === "wrong" || (state === "unproven" && upgraded === true)

/** A proof needs this many exact swaps (out of up to 160). Fewer are too few to conclude anything. */
export const LEAST_EXACT = 16

/** Why a proof without wrong swaps still proves nothing; null when it does prove something. */
export const shortfall = (exact: number): string | null =>
  exact < LEAST_EXACT ? `${exact} executed swaps were compared, and ${LEAST_EXACT} are needed` : null

const mismatch = ({ exact, pools, slot, wrong }: ProofOutcome): string =>
  `${wrong} of ${wrong + exact} executed swaps differ from their quotes, on ${pools} pools at slot ${slot}`

/**
 * Why the prices of a program count as wrong; null when they do not. The last proof decides, even after an upgrade
 * and while the deployment cannot be read, until the operator accepts the slot of the upgrade.
 */
export const wrongness = ({ acceptedSlot, deployment, record }: KnownProgram): string | null => {
  if (record === null || record.proof === null || record.proof.wrong === 0) {
    return null
  }
  const slot = deployment === null || "reason" in deployment ? null : deploymentSlot(deployment, record)
  const isAccepted = slot !== null && slot !== record.knownSlot && slot === acceptedSlot
  return isAccepted ? null : `its prices were found wrong: ${mismatch(record.proof)}`
}

/**
 * For a wrong deployment: true when a right one, or the one seen first, came before it. Null when none is recorded.
 */
const upgradedSince = (record: ProofRecord, deployment: Deployment): boolean | null =>
  deployment.isImmutable
    ? false
    : record.soundSlot === null
      ? null
      : deploymentSlot(deployment, record) !== record.soundSlot

/**
 * Why a policy leaves a venue out of quotes; null when it is quoted.
 *
 * @param isRecent false once the deployments have not been read for a while. Then no proof counts any more.
 */
export const refusalOf = (policy: Policy, known: KnownProgram, isRecent: boolean): string | null => {
  if (policy === "warn") {
    return null
  }
  const wrong = wrongness(known)
  if (wrong !== null || policy === "wrong") {
    return wrong
  }
  const { detail, state, upgraded } = programState(known)
  if (policy === "changed") {
    return state === "unproven" && upgraded === true ? `its program is not proven since: ${detail ?? ""}` : null
  }
  if (state !== "proven") {
    return detail === null ? "its program is not proven" : `its program is not proven: ${detail}`
  }
  return isRecent ? null : "its program is not proven: the deployments could not be read lately"
}

/** Decides the state of a program. See `ProgramState`. */
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
    return { ...known, upgraded: upgradedSince(record, deployment), state: "wrong", detail: mismatch(proof) }
  }
  const lacking = shortfall(proof.exact)
  if (lacking !== null) {
    return { ...known, state: "unproven", detail: joined(lacking, obstacle) }
  }
  return { ...known, state: "proven", provenAtSlot: proof.slot, detail: null }
}
