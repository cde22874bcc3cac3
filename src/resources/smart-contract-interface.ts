import { sha256 } from '@noble/hashes/sha2.js'
import { checkInterface } from '../chain/index.ts'
import { encodeHex, encodeUtf8 } from '../encoding/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource, Value } from './model.ts'
import { recordsOf } from './wire/record.ts'
import * as wire from './wire/smart-contract-interface.ts'

const REPLACED = 'the API changes no interface; define another one beside it and mark this one `delete: true`'

/** The chains that interfaces are of, by the words of definitions; and what an address looks like there. */
const TYPES = {
  ethereum: { address: /^0x[0-9a-fA-F]{40}$/, words: '`0x` and 40 hex digits' },
  solana: { address: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, words: 'base58 of 32 bytes' },
} as const

function check({ fields: { type, address, interface: json, interfaceFile } }: Resource): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const row = Object.hasOwn(TYPES, String(type)) ? TYPES[type as keyof typeof TYPES] : undefined
  if (row && typeof address === 'string' && !row.address.test(address)) {
    const message = `expected the address of a contract on ${String(type)} (${row.words}), got \`${address}\``
    problems.push({ field: 'address', code: 'resources/bad-contract-address', message })
  }
  const field = interfaceFile === undefined ? 'interface' : 'interfaceFile'
  if (typeof json === 'string' && row) {
    const wrong = checkInterface({ type: wire.wireType(String(type)), json })
    if (wrong !== undefined) {
      const message = `${field === 'interface' ? 'it' : `\`${String(interfaceFile)}\``} is no ${type === 'ethereum' ? 'ABI' : 'IDL'}: ${wrong.replace(/^invalid smart contract interface: /, '')}`
      problems.push({ field, code: 'resources/bad-interface', message })
    }
  }
  if (json === undefined && interfaceFile === undefined) {
    const help = 'write the JSON under `interface:`, or the path of its file under `interfaceFile:`'
    const missing = ['interface', 'interfaceFile']
    problems.push({ code: 'resources/no-interface', message: 'the interface itself is missing', help, missing })
  }
  return problems
}

/** The interface of a contract, so that policies can name functions and arguments. Its name is the label. */
export const smartContractInterface: ResourceKind = {
  kind: 'smartContractInterface',
  one: 'smart contract interface',
  many: 'smart contract interfaces',
  form: { key: 'smartContractInterfaces', shape: 'map' },
  fields: {
    name: { compare: 'exact', meaning: 'Its label.', immutable: REPLACED },
    address: {
      compare: 'exact',
      meaning: 'The address of the contract.',
      immutable: REPLACED,
      required: true,
      schema: { type: 'string' },
      normal: wire.normalAddress,
    },
    type: {
      compare: 'exact',
      meaning: 'The chain: an ABI for `ethereum` and its like, an Anchor IDL for `solana`.',
      immutable: REPLACED,
      required: true,
      schema: { enum: Object.keys(TYPES) },
    },
    interface: {
      compare: 'exact',
      meaning: 'The ABI or IDL itself, as YAML or as a text of JSON; at most 400,000 bytes of JSON.',
      immutable: REPLACED,
      schema: { type: ['array', 'object', 'string'] },
      normal: wire.normalInterface,
      brief: briefInterface,
    },
    interfaceFile: {
      compare: 'never',
      meaning: 'The path of a JSON file that holds it, from the file that says so; instead of `interface`.',
      schema: { type: 'string', minLength: 1 },
      fileOf: 'interface',
    },
    notes: { compare: 'exact', meaning: 'A remark, shown with it.', immutable: REPLACED, schema: { type: 'string' } },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_SMART_CONTRACT_INTERFACE', 'DELETE_SMART_CONTRACT_INTERFACE'],
  identity: ({ name }) => name,
  check,
  read: {
    query: 'list_smart_contract_interfaces',
    from: (answer) => recordsOf(answer, 'smartContractInterfaces').map(wire.fromWire),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
    produces: ([change]) => [
      { address: change!.desired!.address, at: ['createSmartContractInterfaceResult', 'smartContractInterfaceId'] },
    ],
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
    carries: 'one',
    parameters: ([change]) => ({ smartContractInterfaceId: change!.actual!.id! }),
  },
  // What a policy says of a function can be decided once its interface is there, and not before.
  power: () => 'loosens',
}

/** Its digest and size: a plan that showed 400 kB of JSON would hide everything else. */
function briefInterface(value: Value): Value {
  if (typeof value !== 'string') return value
  const bytes = encodeUtf8(value)
  return `sha256:${encodeHex(sha256(bytes))} (${bytes.length} bytes)`
}
