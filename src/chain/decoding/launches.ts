/** Finds tokens that launchpads put on a curve, and tokens that left one. */
import { eventInCall } from "../../programs/layout/anchorEvents.ts"
import type { Launchpad, StatedLaunch } from "../../programs/interface/Launchpad.ts"
import { platformOf } from "../../programs/platforms.ts"
import { launchpads } from "../../programs/launchpads.ts"
import type { Address } from "../../domain/Address.ts"
import type { Launch } from "../../api/schemas/Launch.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import type { Transaction } from "./transaction.ts"

const launchpadAt: ReadonlyMap<Address, Launchpad> = new Map(launchpads.map((each) => [each.programId, each]))

const statedLaunch = (instruction: Instruction): StatedLaunch | null => {
  const launchpad = launchpadAt.get(instruction.program)
  const data = launchpad === undefined ? null : dataOf(instruction)
  if (launchpad === undefined || data === null) {
    return null
  }
  // Only the program itself can sign for its event authority, which is the only account of such a call.
  const event = instruction.accounts.length === 1 ? eventInCall(data) : null
  return event === null ? (launchpad.instruction?.(data, instruction.accounts) ?? null) : launchpad.event(event)
}

/** The launch with its platform. Programs without configs belong to one platform. */
const withPlatform = ({ config, ...launch }: StatedLaunch, signers: ReadonlyArray<Address>): Launch => {
  const platform = config === undefined ? null : platformOf(config, signers)
  return platform === null ? launch : { ...launch, platform }
}

const NONE: ReadonlyArray<Launch> = []

/** Launches and migrations in the order of the instructions. A failed transaction launched nothing. */
export const launchesOf = ({ error, instructions, keys, signers }: Transaction): ReadonlyArray<Launch> => {
  const found = error === null ? instructions.flatMap((instruction) => statedLaunch(instruction) ?? []) : NONE
  return found.length === 0 ? NONE : found.map((launch) => withPlatform(launch, keys.slice(0, signers)))
}
