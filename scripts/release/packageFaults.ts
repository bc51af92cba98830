/** Faults of a packed package, by publint and are-the-types-wrong. */
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

// The packages are ESM only: a CommonJS resolver finds no entry, by design.
const isExpected = (problem: Problem): boolean =>
  problem.kind === "CJSResolvesToESM" || ("resolutionKind" in problem && problem.resolutionKind === "node10")

/** Faults of a tarball, one text each. */
export const packageFaults = async (tarball: Uint8Array): Promise<Array<string>> => {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: tarball.slice().buffer } })
  const types = await checkPackage(createPackageFromTarballData(tarball))
  const problems = types.types === false ? ["there are no types"] : types.problems.filter((found) => !isExpected(found))
  return [
    ...messages.map((message) => formatMessage(message, pkg) ?? message.code),
    ...problems.map((found) => JSON.stringify(found))
  ]
}
