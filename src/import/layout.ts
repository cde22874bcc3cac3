import type { ResourceKind } from '../resources/index.ts'

/** Which file a section goes to when no file has it yet; all others go to the first. */
const FILES: readonly { readonly file: string; readonly sections: readonly string[] }[] = [
  { file: 'organization.yaml', sections: [] },
  { file: 'people.yaml', sections: ['tags', 'users', 'invitations'] },
  { file: 'policies.yaml', sections: ['policies'] },
  { file: 'wallets.yaml', sections: ['wallets', 'privateKeyTags', 'privateKeys'] },
  { file: 'contracts.yaml', sections: ['smartContractInterfaces'] },
]

/** The first lines of every new file. */
export const HEAD =
  '# yaml-language-server: $schema=https://unpkg.com/quorate/dist/src/definitions/quorate.schema.json\n'

/** The file of a section that no file has yet. */
export function fileOf({ form }: ResourceKind): string {
  return FILES.find(({ sections }) => sections.includes(form.key))?.file ?? FILES[0]!.file
}

export const FIRST_FILE = FILES[0]!.file
