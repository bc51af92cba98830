/** Comparisons of answers with the record as of the slot that they were made at. */
import type { Comparison } from "./check.ts"
import { type Findings, makeFindings } from "./differences.ts"
import type { Block, Chain } from "./follow.ts"
import type { Service } from "./service.ts"

/** Milliseconds for which the service may show one ranking to several callers. */
const SHARED_MS = 2100

/** Most tries to get the answers of a comparison at one slot. */
const TRIES = 200

/** Answers of one slot, each read once. */
interface Answers {
  readonly service: Service
  /** False once an answer was of another slot or said so, or a block came meanwhile. */
  readonly areOfOneSlot: () => boolean
}

/** True when an answer says that it shows another slot, or blocks of several. */
const isOfAnother = (answer: unknown, slot: number): boolean =>
  typeof answer === "object" && answer !== null && "slot" in answer && answer.slot !== slot

/** Reads answers from a service that must all be of one slot. */
const answersAt = (service: Service, slot: number): Answers => {
  const answers = new Map<string, Promise<unknown>>()
  const state = { moved: false }
  const ask = async (name: keyof Service, request: ReadonlyArray<never>): Promise<unknown> => {
    const answer: unknown = await Reflect.apply(service[name], service, request)
    // Slots only grow, so if the slot is the same before and after, the answer is of that slot, unless it says that it is older.
    state.moved = (await service.newestSlot()) !== slot || isOfAnother(answer, slot) || state.moved
    return answer
  }
  const asked = new Proxy(service, {
    get:
      (_, name: keyof Service) =>
      (...request: ReadonlyArray<never>) => {
        const key = JSON.stringify([name, ...request])
        const answer = answers.get(key) ?? ask(name, request)
        answers.set(key, answer)
        return answer
      }
  })
  return { service: asked, areOfOneSlot: () => !state.moved }
}

/**
 * The service's newest block, once it is the first block of its second. The service may show one answer for the whole
 * second in which it was made, and that answer is then of this block.
 */
const firstOfSecond = async (service: Service, chain: Pick<Chain, "blocks" | "readTo">): Promise<Block | null> => {
  const slot = await service.newestSlot()
  await chain.readTo(slot)
  const at = chain.blocks.findLastIndex((block) => block.slot <= slot)
  const [before, block] = [chain.blocks[at - 1], chain.blocks[at]]
  return block !== undefined && before !== undefined && block.second > before.second ? { ...block, slot } : null
}

const add = (to: Findings, found: Findings): void => {
  to.differences.push(...found.differences)
  found.compared.forEach((count, kind) => to.compared.set(kind, (to.compared.get(kind) ?? 0) + count))
}

/**
 * Adds the comparison with the record up to and including the slot of the answers. Repeats until no block comes while
 * the answers are read and none is older; throws when that never happens.
 */
export const compareAtOneSlot = async (
  service: Service,
  chain: Pick<Chain, "after" | "blocks" | "readTo">,
  findings: Findings,
  compare: Comparison,
  isWhole: boolean,
  sharedMs = SHARED_MS
): Promise<void> => {
  for (let tries = 0; tries < TRIES; tries++) {
    const block = await firstOfSecond(service, chain)
    if (block !== null) {
      const answers = answersAt(service, block.slot)
      const found = makeFindings()
      await compare(answers.service, chain.after(block, isWhole), found)
      if (answers.areOfOneSlot()) {
        add(findings, found)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, sharedMs))
    }
  }
  throw new Error("The service had a new block while each answer was asked for, or its answers were of an older one.")
}
