import type { ResourceKind } from '../resources/index.ts'

/** Which file a section goes to when no file has it yet; all others go to the first. */
const FILES: readonly { readonly file: string; readonly sections: readonly string[] }[] = [
  { file: 'organization.yaml', sections: [] },
  { file: 'people.yaml', sections: ['tags', 'users', 'invitations'] },
  { file: 'policies.yaml', sections: ['policies'] },
  { file: 'wallets.yaml', sections: ['wallets', 'privateKeyTags', 'privateKeys'] },
  { file: 'contracts.yaml', sections: ['smartContractInterfaces'] },
]

/** The schema for editors, which is written beside the definitions that name it: no address has to be reached, and it fits this version. */
export const SCHEMA_FILE = 'quorate.schema.json'

/** The first lines of every new file. */
export const HEAD = `# yaml-language-server: $schema=./${SCHEMA_FILE}\n`

/** The file of a section that no file has yet. */
export function fileOf({ form }: ResourceKind): string {
  return FILES.find(({ sections }) => sections.includes(form.key))?.file ?? FILES[0]!.file
}

export const FIRST_FILE = FILES[0]!.file
