/** The Helm chart, rendered by Helm where it is installed. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

/** What Helm made of the chart: the objects by mode, and what it complained of. */
export interface Chart {
  readonly isGood: boolean
  readonly objects: Readonly<Record<string, ReadonlyArray<string>>>
  readonly faults: ReadonlyArray<string>
}

const modes = {
  process: [],
  roles: ["--set", "roles.enabled=true"],
  settings: ["--set", "settings.LOG_FORMAT=json"]
} as const

const helm = (...args: ReadonlyArray<string>) => spawnSync("helm", args, { encoding: "utf8" })

/** Lints and renders the chart. Null where `helm` is not installed: then nothing has shown that the chart renders. */
export const checkChart = (tree: string): Chart | null => {
  if (helm("version").error !== undefined) {
    return null
  }
  const chart = join(tree, "scripts/deploy/helm")
  const linted = helm("lint", "--strict", chart)
  const faults = linted.status === 0 ? [] : [linted.stdout + linted.stderr]
  const objects = Object.entries(modes).map(([mode, args]) => {
    const { status, stderr, stdout } = helm("template", "fathom", chart, ...args)
    if (status !== 0) {
      faults.push(`${mode}: ${stderr.trim()}`)
    }
    return [mode, Array.from(stdout.matchAll(/^ *(?:- )?kind: (\w+)$/gmu), ([, kind = ""]) => kind)] as const
  })
  return { isGood: faults.length === 0, objects: Object.fromEntries(objects), faults }
}
