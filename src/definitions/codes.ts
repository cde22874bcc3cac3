import type { Codes } from '../diagnostics/index.ts'

const VALUE = 'write what the message expects; the schema named in the first line of a file lets an editor complete it'

export const codes = {
  'definitions/unreadable': {
    summary: 'a file or folder of definitions cannot be read',
    solve: 'check that it exists and who may read it; nothing was read in its place',
  },
  'definitions/unreadable-file': {
    summary: 'a file that a definition names cannot be read',
    solve: 'correct the path; it is written from the file that names it, and leads to no place outside the definitions',
  },
  'definitions/early-access': {
    summary: 'a definition uses what the API opens to some organizations only',
    solve: 'once the organization has it, say so under `earlyAccess:`; until then, leave it out',
  },
  'definitions/not-text': { summary: 'a file of definitions is not UTF-8', solve: 'save it as UTF-8' },
  'definitions/empty-folder': {
    summary: 'a folder holds no definitions',
    solve: 'name a folder with .yaml files, or make one with `quorate init`',
  },
  'definitions/nested-folder': {
    summary: 'a folder inside the folder of a sub-organization holds definitions',
    solve: 'move it up: a sub-organization has none of its own',
  },
  'definitions/wrong-folder': {
    summary: 'a key of an organization stands in the folder of a sub-organization, or the other way round',
    solve:
      'move it, or remove it: `id` belongs to the outer folder, `each`, `delete` and `renamedFrom` to a nested one',
  },
  'definitions/tab': { summary: 'a tab indents a line', solve: 'indent with spaces; YAML allows no tabs there' },
  'definitions/syntax': { summary: 'a file is not YAML', solve: 'correct it at the place that is marked' },
  'definitions/too-many-aliases': {
    summary: 'the YAML aliases expand to too many values',
    solve: 'write out what is meant; a definition needs few aliases or none',
  },
  'definitions/unknown-alias': {
    summary: 'a YAML alias has no anchor',
    solve: 'correct its name, or put the anchor before it; read as nothing, it would leave out what is meant',
  },
  'definitions/duplicate-key': { summary: 'a key is written twice in one map', solve: 'join the two, or remove one' },
  'definitions/unknown-key': { summary: 'a key is not known at its place', solve: 'correct or remove it' },
  'definitions/missing-key': { summary: 'a required key is missing', solve: 'add the key that the message names' },
  'definitions/wrong-type': { summary: 'a value is of another type than expected', solve: VALUE },
  'definitions/wrong-value': { summary: 'a value is none of those allowed', solve: VALUE },
  'definitions/secret': {
    summary: 'something that must stay secret is written in a definition',
    solve: 'remove it, from the history of the files too, and make a new key in its place: it is no secret any more',
  },
  'definitions/bad-address': {
    summary:
      'an address does not have the checksum of its digits, is too long or too short, or is on another kind of chain',
    solve: 'ask the owner of the address for it again',
  },
  'definitions/bad-id': {
    summary: '`id` is no UUID',
    solve: 'write the id of the organization as the API shows it, or `${env.…}` with a variable that holds it',
  },
  'definitions/bad-name': {
    summary: 'a name cannot be used',
    solve:
      'write 1 to 255 printable characters without blanks at the ends; the code point that cannot be seen is named',
  },
  'definitions/unseen': {
    summary: 'a text of a definition has a character that cannot be seen',
    solve: 'remove the character that is named; it is often pasted along, or hides what an expression says',
  },
  'definitions/defined-twice': { summary: 'a name is defined twice', solve: 'join the two, or rename one' },
  'definitions/twin-names': {
    summary: 'two names look alike and differ in their bytes only',
    solve: 'write both in the same Unicode form, or rename one',
  },
  'definitions/look-alike': {
    summary: 'two names look alike and are not the same, or the address book names a receiver like a wallet',
    solve:
      'rename one, unless both are meant; this is a warning, printed beside the other name wherever somebody approves',
  },
  'definitions/bad-reference': {
    summary: 'a `${…}` cannot be read',
    solve: 'write `${user.alice}`, `${tag["Ops team"]}`, `${env.NAME}` or `${var.name}`; `$${` stands for itself',
  },
  'definitions/reference-not-here': {
    summary: 'a reference stands where only a plain text may',
    solve: 'write the text itself; names become ids in policy expressions and in lists of names only',
  },
  'definitions/unknown-id': {
    summary: 'a policy names an id or a name that nothing live has, so that it never applies',
    solve: 'correct it, or name what is defined by a reference, such as `${wallet.NAME}`',
  },
  'definitions/unknown-name': {
    summary: 'a name is used that is not defined',
    solve: 'correct it or define it; everything that is named must be defined in the same folder',
  },
  'definitions/deleted-name': {
    summary: 'the name of a resource that is to be deleted is still used',
    solve: 'remove its use first, or keep it',
  },
  'definitions/forgotten-name': {
    summary: 'an address under `forget:` has a definition too',
    solve: 'remove its definition to hand it back, or take it out of `forget:` to go on managing it',
  },
  'definitions/listed-twice': {
    summary: 'a list of names holds one twice',
    solve: 'take one of the two out of the list',
  },
  'definitions/undeclared-variable': {
    summary: 'a definition refers to an environment variable that is not declared',
    solve: 'add its name to `variables:` in one of the files; what is no secret may be declared',
  },
  'definitions/secret-variable': {
    summary: 'a definition refers to, or declares, an environment variable that may hold a secret',
    solve: 'remove it; where the value is no secret, give it by a variable whose name does not say so',
  },
  'definitions/misplaced-value': {
    summary: 'a value from outside would change what a policy is made of',
    solve:
      'put quotes around it in the policy, and give a value without a quote; outside of quotes only a whole number, `true` or `false` may stand',
  },
  'definitions/missing-env': { summary: 'an environment variable is not set', solve: 'set it and run again' },
  'definitions/missing-var': {
    summary: 'a variable has no value',
    solve: 'give it with `--var name=value`, or a default under `vars:`',
  },
  'definitions/empty-expression': {
    summary: 'an expression of a policy is empty, which the API refuses',
    solve: 'write `true` for one that always holds, or leave the key out',
  },
  'definitions/rename-clash': {
    summary: 'the old name of a rename is still defined, or two things claim it',
    solve: 'remove the old definition; the new one stands for the same thing',
  },
  'definitions/rename-cycle': {
    summary: 'renames lead in a circle',
    solve: 'rename through a name that is not in use, one apply after the other',
  },
  'definitions/shared-key': {
    summary: 'two credentials are the same: API keys with one public key, or passkeys or providers with one identity',
    solve: 'make one for each: a shared credential makes two people one',
  },
  'definitions/malformed-lock': {
    summary: 'the lock file cannot be used',
    solve:
      'restore it from version control; one that is made again from what is live does not know what was defined here before',
  },
  'definitions/unwritable-lock': {
    summary: 'the lock file cannot be written',
    solve:
      'make room or get write access, then apply again: until it is written, what is taken out of the definitions is not known to be ours',
  },
} as const satisfies Codes
