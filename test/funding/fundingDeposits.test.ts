import {
  baseDeposit,
  baseUsdc,
  custody,
  custodyDeposit,
  custodyUsdc,
  evmWallet,
  OWNER,
  solana,
  solDeposit,
  solListed,
  solUsdc,
  solWallet
} from "./scriptedFunding.ts"
import { type Ask, named, perField, refuses, type Variant } from "./variants.ts"

const [owned, address] = [solDeposit.ownedWallet, baseUsdc.address]

const depositVariants: ReadonlyArray<Variant> = [
  ...perField(solDeposit),
  ...named("minimumAtomic"),
  ["another wallet", "foreign", { ownedWallet: { ...owned, walletId: "w_other" } }],
  ["the same wallet at another address", "foreign", { ownedWallet: { ...owned, address: solDeposit.address } }],
  ["the same wallet of another family", "foreign", { ownedWallet: { ...owned, family: "evm" } }],
  ["a wallet with a field too many", "malformed", { ownedWallet: { ...owned, label: "Main" } }],
  ["another network", "foreign", { network: custody }],
  ["another asset", "foreign", { asset: { ...solUsdc, id: "solana-mainnet/sol" } }],
  ["the id of the network in capitals", "foreign", { network: { ...solana, id: "SOLANA-MAINNET" } }],
  ["a network of another name", "malformed", { network: { ...solana, name: "Solana Devnet" } }],
  ["a network of another family", "malformed", { network: { ...solana, family: "evm" } }],
  ["a network with a field too many", "malformed", { network: { ...solana, rpcUrl: "http://x" } }],
  ["an asset of another network", "malformed", { asset: { ...solUsdc, network: custody.id } }],
  ["an asset at another address", "malformed", { asset: { ...solUsdc, address: solDeposit.address } }],
  ["an asset of another symbol", "malformed", { asset: { ...solUsdc, symbol: "USDT" } }],
  ["an asset of other decimals", "malformed", { asset: { ...solUsdc, decimals: 9 } }],
  ["a native asset that is none", "malformed", { asset: { ...solUsdc, native: true } }],
  ["an asset with its minimum", "malformed", { asset: solListed }],
  ["an address of another family", "malformed", { address, qrPayload: address }],
  ["an address that is text", "malformed", { address: "deposit here", qrPayload: "deposit here" }],
  ["an empty address", "malformed", { address: "" }],
  ["an address without an owner", "malformed", { address: "1".repeat(32), qrPayload: "1".repeat(32) }],
  ["the address of the asset itself", "malformed", { address: solUsdc.address }],
  ["an empty QR payload", "malformed", { qrPayload: "" }],
  ["a QR payload of another address", "malformed", { qrPayload: `solana:${solWallet.address}` }],
  ["a QR payload in other letters", "malformed", { qrPayload: solDeposit.qrPayload.toLowerCase() }],
  ["a memo that nothing asks for", "malformed", { memo: "42" }],
  ["a memo rule that the network does not have", "malformed", { memoRequired: true, memo: "42" }],
  [
    "a memo rule that the catalog does not have",
    "malformed",
    { memoRequired: true, memo: "42", network: { ...solana, memoRequired: true } }
  ],
  ["a warning that is no text", "malformed", { mismatchWarning: null }],
  ["a time before time", "malformed", { asOf: -1 }],
  ["a time beyond exact integers", "malformed", { asOf: Number.MAX_SAFE_INTEGER + 1 }],
  ["a time with a fraction", "malformed", { asOf: 0.5 }]
]

const depositOf =
  (wallet: { readonly walletId: string }, asset: typeof solUsdc): Ask =>
  (client) =>
    client.depositAddress({ owner: OWNER, walletId: wallet.walletId, networkId: asset.network, assetId: asset.id })

refuses(
  "a deposit",
  depositOf(solWallet, solUsdc),
  (change) => ({ deposit: { owner: OWNER, deposit: { ...solDeposit, ...change } } }),
  depositVariants
)

refuses(
  "a deposit envelope",
  depositOf(solWallet, solUsdc),
  (change) => ({ deposit: { owner: OWNER, deposit: solDeposit, ...change } }),
  [
    ["a deposit of another owner", "foreign", { owner: "acct_2" }],
    ["no deposit", "malformed", { deposit: null }],
    ["a field too many", "malformed", { signature: "x" }]
  ]
)

refuses(
  "a deposit with a memo",
  depositOf(solWallet, custodyUsdc),
  (change) => ({ deposit: { owner: OWNER, deposit: { ...custodyDeposit, ...change } } }),
  [
    ["one without", "malformed", { memo: null }],
    ["an empty one", "malformed", { memo: "" }],
    ["one that cannot be seen", "malformed", { memo: "42\u202e" }],
    ["one that is a number", "malformed", { memo: 42 }],
    ["one that is not called required", "malformed", { memoRequired: false }],
    ["none, and no rule", "malformed", { memoRequired: false, memo: null }],
    [
      "none, and a network that needs none",
      "malformed",
      { memoRequired: false, memo: null, network: { ...custody, memoRequired: false } }
    ]
  ]
)

const evm = (address: string) => ({ address, qrPayload: `ethereum:${address}` })

refuses(
  "an EVM deposit",
  depositOf(evmWallet, baseUsdc),
  (change) => ({ deposit: { owner: OWNER, deposit: { ...baseDeposit, ...change } } }),
  [
    ["an address of 41 digits", "malformed", evm(`0x${"a".repeat(41)}`)],
    ["an address with a letter that is no digit", "malformed", evm(`0x${"g".repeat(40)}`)],
    ["an address with a capital X", "malformed", evm(`0X${"a".repeat(40)}`)],
    ["an address without an owner", "malformed", evm(`0x${"0".repeat(40)}`)],
    ["the address of the asset in other letters", "malformed", evm(baseUsdc.address.toLowerCase())],
    ["a Solana address", "malformed", evm(solDeposit.address)]
  ]
)
