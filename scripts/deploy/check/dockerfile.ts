/** A Dockerfile as its stages. Only what the one here uses is understood; anything else is an error. */

/** One step of a stage. */
export type Step =
  | {
      readonly kind: "copy"
      readonly from: string | null
      readonly sources: ReadonlyArray<string>
      readonly target: string
    }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "workdir"; readonly folder: string }

/** One stage, and how its last image is run. */
export interface Stage {
  readonly base: string
  readonly name: string | null
  readonly steps: ReadonlyArray<Step>
  readonly env: Readonly<Record<string, string>>
  readonly user: string | null
  readonly volumes: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  readonly health: ReadonlyArray<string>
}

/** Instructions with their continuation lines joined, without comments. */
const instructionsOf = (text: string): ReadonlyArray<readonly [string, string]> =>
  text
    .replaceAll(/^\s*#.*\n/gmu, "")
    .replaceAll(/\\\n\s*/gu, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1).trim()] as const)

const listOf = (text: string): ReadonlyArray<string> => JSON.parse(text.slice(text.indexOf("["))) as Array<string>

const copyOf = (rest: string): Step => {
  const words = rest.split(/\s+/u)
  const from = words[0]?.startsWith("--from=") === true ? words[0].slice("--from=".length) : null
  const paths = from === null ? words : words.slice(1)
  return { kind: "copy", from, sources: paths.slice(0, -1), target: paths.at(-1) ?? "" }
}

const emptyStage = (rest: string): Stage => {
  const [base = "", , name = null] = rest.split(/\s+/u)
  return { base, name, steps: [], env: {}, user: null, volumes: [], command: [], health: [] }
}

const stepOf = (instruction: string, rest: string): Step | null => {
  switch (instruction) {
    case "COPY": {
      return copyOf(rest)
    }
    case "RUN": {
      return { kind: "run", command: rest }
    }
    case "WORKDIR": {
      return { kind: "workdir", folder: rest }
    }
    default: {
      return null
    }
  }
}

const settingOf = (stage: Stage, instruction: string, rest: string): Stage => {
  switch (instruction) {
    case "ENV": {
      const pairs = rest.split(/\s+/u).map((pair) => pair.split("=") as [string, string])
      return { ...stage, env: { ...stage.env, ...Object.fromEntries(pairs) } }
    }
    case "USER": {
      return { ...stage, user: rest }
    }
    case "VOLUME": {
      return { ...stage, volumes: [...stage.volumes, rest] }
    }
    case "CMD": {
      return { ...stage, command: listOf(rest) }
    }
    case "HEALTHCHECK": {
      return { ...stage, health: listOf(rest) }
    }
    case "EXPOSE":
    case "STOPSIGNAL": {
      return stage
    }
    default: {
      throw new Error(`${instruction} is not understood`)
    }
  }
}

/** The stages in order. */
export const stagesOf = (text: string): ReadonlyArray<Stage> => {
  const stages: Array<Stage> = []
  for (const [instruction, rest] of instructionsOf(text)) {
    if (instruction === "FROM") {
      stages.push(emptyStage(rest))
      continue
    }
    const stage = stages.pop()
    if (stage === undefined) {
      throw new Error(`${instruction} comes before FROM`)
    }
    const step = stepOf(instruction, rest)
    stages.push(step === null ? settingOf(stage, instruction, rest) : { ...stage, steps: [...stage.steps, step] })
  }
  return stages
}
