/** The texts of a release: every file that holds the version, and the notes. */

const SEMVER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/u

/** Files that hold the version, with the text before it. The first two hold it in the first lines. */
const places = {
  "package.json": /(?<="name": "fathom",\s+"version": ")[^"]+/u,
  "package-lock.json": /(?<="name": "fathom",\s+"version": ")[^"]+/gu,
  "server.json": /(?<="version": ")[^"]+/u,
  "src/http/mcp/McpRoute.ts": /(?<=version: ")[^"]+/u,
  "src/app/version.ts": /(?<=VERSION = ")[^"]+/u,
  "scripts/deploy/kubernetes/fathom.yaml": /(?<=image: fathom:)\S+/gu,
  "scripts/deploy/kubernetes/roles.yaml": /(?<=image: fathom:)\S+/gu,
  "scripts/deploy/helm/values.yaml": /(?<=image: fathom:)\S+/gu,
  "scripts/deploy/helm/Chart.yaml": /(?<=\n(?:version: |appVersion: "))[^"\n]+/gu
} as const

/** A file that holds the version. */
export type VersionedFile = keyof typeof places

/** Every file that holds the version. */
export const versionedFiles = Object.keys(places) as ReadonlyArray<VersionedFile>

/** Throws when the text is no version. */
export const checkVersion = (version: string): void => {
  if (!SEMVER.test(version)) {
    throw new Error(`${version} is no version: expected 1.2.3 or 1.2.3-rc.1`)
  }
}

/** The text of a file with another version. Throws when it holds none. */
export const withVersion = (file: VersionedFile, text: string, version: string): string => {
  if (text.search(places[file]) === -1) {
    throw new Error(`${file} holds no version`)
  }
  return text.replace(places[file], version)
}

/** The versions that a file holds. */
export const versionsIn = (file: VersionedFile, text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(new RegExp(places[file].source, "gu")), ([found]) => found)

/** The changelog with its unreleased part under a version and a day, and that part. Throws without one, or when it has the version. */
export const withRelease = (changelog: string, version: string, day: string) => {
  if (changelog.includes(`\n## ${version} `)) {
    throw new Error(`CHANGELOG.md has ${version} already`)
  }
  const [, notes = ""] = /\n## Unreleased\n(?<notes>[\s\S]*?)(?=\n## |$)/u.exec(changelog) ?? []
  if (notes.trim() === "") {
    throw new Error("CHANGELOG.md has nothing under Unreleased")
  }
  return {
    notes: `${notes.trim()}\n`,
    changelog: changelog.replace("\n## Unreleased\n", `\n## Unreleased\n\n## ${version} (${day})\n`)
  }
}
