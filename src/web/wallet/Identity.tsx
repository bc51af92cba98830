import type { Answer } from "../data/contract.ts"

type Row = Answer<"POST /api/v1/wallets/summary">["data"]["wallets"][number]

const kinds: Readonly<Record<string, string>> = {
  hacker: "Reviewed: stolen funds",
  spam_dusting: "Reviewed: sends spam",
  exchange: "Reviewed: exchange"
}

/** Names, tags and findings of a wallet. A wallet without findings has not been cleared. */
export const Identity = ({ of: identity }: { readonly of: NonNullable<Row["identity"]> }) => {
  const { classifications, display, labels, sns, tags } = identity
  const names = [display?.name, sns?.domain, ...labels].filter((name) => name !== undefined)
  return (
    <p class="row">
      {names.map((name) => (
        <bdi class="tag" key={name}>
          {name}
        </bdi>
      ))}
      {classifications.map(({ kind, name }) => (
        <span class={kind === "exchange" ? "tag" : "tag warn"} key={kind}>
          {kinds[kind] ?? kind}
          {name !== null && (
            <>
              , <bdi>{name}</bdi>
            </>
          )}
        </span>
      ))}
      {tags.map((tag) => (
        <span class="tag" key={tag} title="An observed association with a fee account, not ownership">
          uses {tag.replace("platform:", "")}
        </span>
      ))}
    </p>
  )
}
