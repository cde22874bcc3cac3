/**
 * Resources: one file a kind. What a user, a policy or a wallet is, how it is told from another, compared, referred to
 * and turned into activities. Generic code elsewhere reads these rows and knows no kind by name.
 */
export type { ActivityTemplate, ChangeInput, FieldRow, Power, ResourceKind } from './kind.ts'
export {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  type KindName,
  type Reference,
  type Resource,
  type TemplateText,
  type Value,
} from './model.ts'
