import { ADDRESSES, type Address, KINDS, type KindName } from './model.ts'

const SHAPES: Readonly<Record<KindName, { readonly names: 0 | 1 | 2; readonly parent?: KindName }>> = ADDRESSES

/** Makes an address: `formatAddress('apiKey', 'alice', 'laptop')` is `apiKey.alice.laptop`. */
export function formatAddress(kind: KindName, ...names: readonly string[]): Address {
  return kind + names.map((name) => (/^[\p{L}\p{N}_-]+$/u.test(name) ? `.${name}` : `[${quote(name)}]`)).join('')
}

/** JSON leaves DEL and the C1 controls as they are, which nobody sees and an address does not hold. */
function quote(name: string): string {
  return JSON.stringify(name).replace(/\p{Cc}/gu, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}

/** The parts of an address, or undefined when the text is none. Any name may be written as `["…"]`. */
export function parseAddress(text: string): { readonly kind: KindName; readonly names: readonly string[] } | undefined {
  const head = /^[A-Za-z][A-Za-z0-9]*/.exec(text)?.[0] ?? ''
  const kind = KINDS.find((known) => known === head)
  if (!kind) return undefined
  const names = parseNames(text.slice(head.length))
  return names?.length === SHAPES[kind].names ? { kind, names } : undefined
}

/** The names in `.alice["my laptop"]`, or undefined when it is written otherwise. */
export function parseNames(text: string): readonly string[] | undefined {
  const names: string[] = []
  const part = /\.([\p{L}\p{M}\p{N}_-]+)|\[("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/uy
  while (part.lastIndex < text.length) {
    const match = part.exec(text)
    if (!match) return undefined
    names.push(match[1] ?? (JSON.parse(match[2]!) as string))
  }
  return names
}

/** The address of the resource that holds this one, e.g. `user.alice` for `apiKey.alice.laptop`. */
export function parentOf(address: Address): Address | undefined {
  const parsed = parseAddress(address)
  const parent = parsed && SHAPES[parsed.kind].parent
  return parent && formatAddress(parent, ...parsed.names.slice(0, SHAPES[parent].names))
}

/** The name of an account within its wallet: `m/44'/60'/0'/0/0 ethereum`. */
export function walletAccountName(path: string, format: string): string {
  return `${path} ${format}`
}
