// Generated from docs/openapi.json by npm run types. Do not edit.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Act: {
            /** @description The sub-agent's run, which has its own trace. */
            child_run_id?: string;
            code?: string;
            /** Format: date-time */
            finished_at?: string;
            id: string;
            /** @enum {string} */
            kind: "action" | "agent" | "code";
            message?: string;
            name: string;
            /** @description The outputs that the model received. */
            outputs?: unknown;
            params?: unknown;
            /**
             * Format: int64
             * @description The position within the turn, from 1.
             */
            position: number;
            /** Format: date-time */
            started_at: string;
            status: string;
            /** Format: int64 */
            turn: number;
        };
        Agent: {
            description: string;
            /** @description Required sources that are not configured. */
            missing?: string[] | null;
            name: string;
            ready: boolean;
            /** @description Identifies the agent in requests; so does the name. */
            slug: string;
            /** @description The first characters of the definition's SHA-256. */
            version?: string;
        };
        Answer: {
            /** @description A value that matches the question's schema. */
            answer?: unknown;
            approve?: boolean;
            images?: components["schemas"]["RunImage"][] | null;
            /** @description A note for the model, in addition to the answer. */
            note?: string;
            /** @description The question's id; the default is the oldest open one. */
            question?: string;
            replace_images?: boolean;
            /** @description Plain text, if the question has one field. */
            text?: string;
        };
        Budget: {
            limit: string;
            /** @enum {string} */
            name: "run" | "day" | "owner";
            reserved?: string;
            /** @description Omitted for limits that apply to each run. */
            spent?: string;
            /** @enum {string} */
            unit: "usd" | "tokens" | "images";
        };
        ChatModel: {
            /** Format: int64 */
            context_tokens?: number;
            /** @description It is used for agents whose preferred models are not ready. */
            default: boolean;
            /** @description Identifies the model in requests. */
            id: string;
            /** Format: int64 */
            max_images?: number;
            name: string;
            price?: components["schemas"]["ChatPrice"];
            provider: string;
            ready: boolean;
            /** @description Why the model is not ready. */
            reason?: string;
            vision: boolean;
        };
        ChatPrice: {
            input_usd: string;
            output_usd: string;
        };
        Conversation: {
            cost: components["schemas"]["Cost"];
            /** Format: date-time */
            created_at: string;
            id: string;
            messages: components["schemas"]["Message"][];
            /** Format: int64 */
            run_count: number;
            title: string;
            tokens: components["schemas"]["Usage"];
            /** Format: date-time */
            updated_at: string;
        };
        ConversationHead: {
            cost: components["schemas"]["Cost"];
            /** Format: date-time */
            created_at: string;
            id: string;
            /** Format: int64 */
            run_count: number;
            title: string;
            tokens: components["schemas"]["Usage"];
            /** Format: date-time */
            updated_at: string;
        };
        Cost: {
            /** @description Every billable call had a known price. */
            complete: boolean;
            estimated_usd: string | null;
            /** @description The part that providers reported. */
            reported_usd: string | null;
        };
        Deleted: {
            id: string;
            /** Format: date-time */
            undo_until: string;
        };
        Failure: {
            code: string;
            message: string;
            retryable: boolean;
        };
        Flaw: {
            detail: string;
            /** @description A JSON pointer into the body, or a parameter's location (query/limit). */
            pointer: string;
        };
        Fork: {
            image_model?: string;
            message?: string;
            model?: string;
            /** @description The first step to execute again; the default is the first step of all. */
            step?: string;
        };
        ForkConversation: {
            /** @description The id of the last message to keep. */
            after: string;
        };
        GeneratedContent: {
            id: string;
            media_id: string;
            modality?: string;
            /** Format: int64 */
            position: number;
            revised_prompt?: string;
            /** Format: int64 */
            seed?: number;
            /** Format: date-time */
            selected_at?: string;
            url: string;
        };
        Generation: {
            cost: components["schemas"]["Cost"];
            /** Format: date-time */
            created_at: string;
            error?: components["schemas"]["Failure"];
            /** Format: date-time */
            finished_at?: string;
            id: string;
            method?: string;
            modality?: string;
            model?: string;
            prompt?: string;
            provider?: string;
            run_id?: string;
            settings: components["schemas"]["Setting"][];
            /** @description The results; empty in lists. */
            slots: components["schemas"]["Slot"][];
            /** @enum {string} */
            status: "queued" | "submitted" | "running" | "succeeded" | "partial" | "failed" | "moderated" | "cancelled";
            warnings: string[];
        };
        Health: {
            /** @description Messages about the configuration, for people. */
            notes: string[];
            /** @description No provider has a key: offline models are used. */
            offline: boolean;
            /** @enum {string} */
            status: "ok";
            /** @description The name of the request's access token, if the server requires one. */
            token?: string;
            version: string;
        };
        Interaction: {
            answer?: unknown;
            /** Format: date-time */
            answered_at?: string;
            /** Format: date-time */
            created_at: string;
            /** @description The current values, with edits and generated results. */
            display_data: unknown;
            display_schema: unknown;
            /** Format: date-time */
            expires_at?: string;
            input_schema?: unknown;
            interaction_id: string;
            /** @enum {string} */
            interaction_type: "schema_with_sub_actions" | "approval";
            layout?: unknown;
            mode: string;
            /** @enum {string} */
            status: "open" | "answered" | "expired" | "cancelled";
            step_id: string;
            title: string;
            /**
             * Format: int64
             * @description The version of display_data, which is also the ETag.
             */
            version: number;
            /** @description The resolved tree that clients render. */
            view: unknown;
            workflow_run_id: string;
        };
        InteractionAnswer: {
            approved?: boolean;
            comment?: string;
            /**
             * @description What to do with running sub-actions; without it, they make the answer fail.
             * @enum {string}
             */
            running?: "keep" | "cancel";
            /** @description A content id, or a list of them, for each selection group. */
            selected?: {
                [key: string]: unknown;
            };
            selected_content_id?: string;
            selected_content_ids?: string[] | null;
            /**
             * Format: int64
             * @description The version of display_data that the person saw. If it is not the current one, the status is 409.
             */
            version?: number;
        };
        InteractionChange: {
            /** @description The changed nodes of the view, without their children, and the pointers of removed ones. */
            changes: unknown;
            interaction_id: string;
            /** @description The change from the previous version of display_data. */
            patch: components["schemas"]["PatchOperation"][];
            /** Format: int64 */
            version: number;
        };
        Limits: {
            /** @description Require approval of each action that would cost more. */
            approve_over?: string;
            /** @description US dollars as decimal text. */
            max_cost?: string;
            /** Format: int64 */
            max_images?: number;
            /** Format: double */
            max_seconds?: number;
            /** Format: int64 */
            max_tokens?: number;
            /** Format: int64 */
            max_turns?: number;
        };
        Link: {
            /** @description A public http or https address. */
            url: string;
        };
        ListAct: {
            items: components["schemas"]["Act"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListAgent: {
            items: components["schemas"]["Agent"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListBudget: {
            items: components["schemas"]["Budget"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListChatModel: {
            items: components["schemas"]["ChatModel"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListConversationHead: {
            items: components["schemas"]["ConversationHead"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListGeneration: {
            items: components["schemas"]["Generation"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListMedia: {
            items: components["schemas"]["Media"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListModel: {
            items: components["schemas"]["Model"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListModelCall: {
            items: components["schemas"]["ModelCall"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListProvider: {
            items: components["schemas"]["Provider"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListRun: {
            items: components["schemas"]["Run"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListStep: {
            items: components["schemas"]["Step"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListSubAction: {
            items: components["schemas"]["SubAction"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListWorkflow: {
            items: components["schemas"]["Workflow"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        ListWorkflowRun: {
            items: components["schemas"]["WorkflowRun"][];
            /** @description The value of after for the next page; empty on the last page. */
            next: string;
        };
        Making: {
            conversation_id?: string;
            /** @description The cost of the whole generation. */
            cost?: components["schemas"]["Cost"];
            /** @enum {string} */
            direction?: "input" | "output";
            model?: string;
            operation_id?: string;
            /** @description The prompt as requested. */
            prompt?: string;
            /** @description The prompt as the provider reports to have revised it. */
            prompt_revised?: string;
            /** @description The prompt as sent to the provider. */
            prompt_sent?: string;
            provider?: string;
            /** @description The body of POST /api/generations that repeats the request. */
            request?: components["schemas"]["NewGeneration"];
            /**
             * Format: int64
             * @description The number of items that the cost covers.
             */
            results?: number;
            run_id?: string;
            /** Format: int64 */
            seed?: number;
            settings: components["schemas"]["Setting"][];
            source?: string;
        };
        Media: {
            /** @description Omitted in lists. */
            conversation_id?: string;
            /** Format: date-time */
            created_at: string;
            description?: string;
            /** @description sha256-HEX. */
            digest: string;
            /** Format: double */
            duration_seconds?: number;
            file_name?: string;
            /** Format: int64 */
            height?: number;
            id: string;
            label?: string;
            /** @description The type detected from the bytes. */
            mime_type: string;
            /** @enum {string} */
            modality: "image" | "audio" | "video" | "document";
            model?: string;
            /** @description A preview, because the final result is missing. */
            partial?: boolean;
            /** @description The short name, for use in text as ${media:REF}. */
            ref: string;
            run_id?: string;
            /** Format: int64 */
            size_bytes: number;
            /** @description The address of the bytes on this server. */
            url: string;
            /**
             * Format: int64
             * @description In pixels, after orientation.
             */
            width?: number;
        };
        MediaChange: {
            description?: string;
            label?: string;
        };
        MediaDetails: {
            /** @description Items made from this one. */
            children: components["schemas"]["Media"][];
            /** @description Omitted in lists. */
            conversation_id?: string;
            /** Format: date-time */
            created_at: string;
            description?: string;
            /** @description sha256-HEX. */
            digest: string;
            /** Format: double */
            duration_seconds?: number;
            file_name?: string;
            /** Format: int64 */
            height?: number;
            id: string;
            label?: string;
            /** @description The type detected from the bytes. */
            mime_type: string;
            /** @enum {string} */
            modality: "image" | "audio" | "video" | "document";
            model?: string;
            origin: components["schemas"]["Making"];
            /** @description Items that this one was made from. */
            parents: components["schemas"]["Media"][];
            /** @description A preview, because the final result is missing. */
            partial?: boolean;
            /** @description The short name, for use in text as ${media:REF}. */
            ref: string;
            run_id?: string;
            /** Format: int64 */
            size_bytes: number;
            /** @description The workflow sub-actions that produced the item. */
            sub_actions: components["schemas"]["MediaSubAction"][];
            /** @description The address of the bytes on this server. */
            url: string;
            /**
             * Format: int64
             * @description In pixels, after orientation.
             */
            width?: number;
        };
        MediaSubAction: {
            content_id: string;
            interaction_id: string;
            /** @description The sub-action's id: GET /api/sub-actions/{id}. */
            metadata_id: string;
            prompt_id?: string;
            /**
             * Format: date-time
             * @description When a person chose it.
             */
            selected_at?: string;
            workflow_run_id: string;
        };
        Message: {
            agent?: string;
            attachments: components["schemas"]["Media"][];
            /** Format: date-time */
            created_at: string;
            error?: components["schemas"]["Failure"];
            id: string;
            /** @description The answer's run has a report. */
            report: boolean;
            /** @enum {string} */
            role: "user" | "assistant";
            run_id: string;
            /** @description The status of the answer's run. */
            status?: string;
            /** @description Media are written as ${media:REF}. */
            text: string;
        };
        Model: {
            default: boolean;
            /** @description Identifies the model in requests. */
            id: string;
            methods: string[];
            modality: string;
            name: string;
            /** @description The price of one result in US dollars, if it is a single number. */
            price?: string;
            provider: string;
            ready: boolean;
            /** @description Why the model is not ready. */
            reason?: string;
        };
        ModelCall: {
            answer?: string;
            cost_usd: string | null;
            error?: components["schemas"]["Failure"];
            /** Format: date-time */
            finished_at?: string;
            id: string;
            /** Format: int64 */
            input_tokens: number;
            /** @description The messages that were sent, with the instructions; media are refs, never bytes. */
            messages?: unknown;
            model: string;
            /** Format: int64 */
            output_tokens: number;
            provider?: string;
            /** Format: date-time */
            started_at: string;
            status: string;
            /** Format: int64 */
            turn: number;
        };
        NewGeneration: {
            /** @description W:H. */
            aspect_ratio?: string;
            background?: string;
            /** Format: int64 */
            compression?: number;
            fallback?: string[] | null;
            /** @description Stored pictures to edit or vary. */
            inputs?: components["schemas"]["RunFile"][] | null;
            label?: string;
            /** @description The area of the first input to change. */
            mask?: components["schemas"]["RunFile"];
            /** @enum {string} */
            method?: "generate" | "edit" | "variation";
            /** @enum {string} */
            modality?: "image" | "audio" | "video" | "document";
            model?: string;
            moderation?: string;
            /** Format: int64 */
            n?: number;
            negative_prompt?: string;
            /** @description Provider-specific options, by provider. */
            options?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            output_format?: string;
            prompt?: string;
            quality?: string;
            /** Format: int64 */
            seed?: number;
            /** @description WIDTHxHEIGHT or auto. */
            size?: string;
            /** Format: double */
            speed?: number;
            /** @description Fail instead of adapting or dropping a setting. */
            strict?: boolean;
            style?: string;
            voice?: string;
        };
        NewRun: {
            /** @description A slug or a name. */
            agent: string;
            /** @description An id, or new for a new conversation; without it, the run belongs to none. */
            conversation_id?: string;
            /** @description Tables, documents and text files that the agent can read and query. */
            files?: components["schemas"]["RunFile"][] | null;
            image_model?: string;
            /** @description Pictures for the model. */
            images?: components["schemas"]["RunImage"][] | null;
            /** @description Input for the model in addition to the message. Large integers stay exact. */
            input?: {
                [key: string]: unknown;
            };
            /** @description Omit pictures that the chat model does not accept, with a warning. */
            lenient_images?: boolean;
            limits?: components["schemas"]["Limits"];
            /** @description Can be omitted if there are images or files. */
            message?: string;
            /** @description The chat model; offline selects the offline model. */
            model?: string;
            /** @description Values for actions. No model receives them, and no response contains them. */
            tool_context?: {
                [key: string]: unknown;
            };
        };
        NewWorkflowRun: {
            definition?: unknown;
            /** @description An object that matches the workflow's state_schema. */
            state?: unknown;
            workflow_id?: string;
        };
        PatchOperation: {
            /** @enum {string} */
            op: "add" | "remove" | "replace" | "test";
            path: string;
            value?: unknown;
        };
        Plan: {
            /** Format: int64 */
            calls: number;
            estimated_usd: string | null;
            /** Format: int64 */
            makes: number;
            model: string;
            provider: string;
            settings: components["schemas"]["Setting"][];
            warnings: string[];
        };
        Problem: {
            /** @description The kind of error, for programs. */
            code: string;
            /** @description The error message, for people. */
            detail: string;
            /** @description Values that do not match the schema, by location. */
            errors?: components["schemas"]["Flaw"][] | null;
            /** @description How to fix it. */
            hint?: string;
            /** @description Whether the same request can succeed later. */
            retryable: boolean;
            /**
             * Format: int64
             * @description The HTTP status.
             */
            status: number;
            /** @description The status in words. */
            title: string;
            /** @description Accepted values. */
            valid?: string[] | null;
        };
        Provider: {
            /** @description The provider has chat models. */
            chat: boolean;
            /** @description The provider has media models. */
            media: boolean;
            name: string;
            ready: boolean;
            /** @description The environment variables that can hold its key. */
            variables?: string[] | null;
        };
        Question: {
            /** @description The path from the root agent to the one that asks. */
            agent: string;
            /** @description The question is answered with approve. */
            approval: boolean;
            /** Format: date-time */
            asked_at: string;
            /** @description What is to be approved: action, params, estimated_usd, reason. */
            details?: unknown;
            id: string;
            /** @enum {string} */
            kind: "question" | "approval" | "guardrail";
            /** @description The choices, if the answer is one of them. */
            options?: string[] | null;
            question: string;
            /** @description The JSON Schema of the answer. */
            schema: unknown;
            /** @description The same as question. */
            text: string;
        };
        Rename: {
            title: string;
        };
        RetrySlots: {
            /** @description Also retry results that were refused or may have been billed. */
            all?: boolean;
        };
        Run: {
            agent: string;
            /** @description The answer. */
            answer?: string;
            /** @description Omitted in lists. */
            conversation_id?: string;
            cost: components["schemas"]["Cost"];
            /** Format: date-time */
            ended_at?: string;
            error?: components["schemas"]["Failure"];
            forked_from?: string;
            id: string;
            /** @description The media that the run received and made; empty in lists. */
            media: components["schemas"]["Media"][];
            /** @description The task. Media are written as ${media:REF}. */
            message?: string;
            /** @description The structured result, with the addresses of media; omitted in lists. */
            payload?: unknown;
            /** @description The oldest open question of a paused run; omitted in lists. */
            question?: components["schemas"]["Question"];
            /** @description All open questions; omitted in lists. */
            questions?: components["schemas"]["Question"][] | null;
            /** @description The run has a report. */
            report: boolean;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            status: "running" | "paused" | "succeeded" | "failed" | "cancelled";
            tokens: components["schemas"]["Usage"];
            warnings: string[];
        };
        RunFile: {
            media_id: string;
        };
        RunImage: {
            /** @enum {string} */
            detail?: "auto" | "low" | "high";
            media_id?: string;
            /** @description The ref of an item of the conversation. */
            ref?: string;
        };
        SeenImage: {
            detail?: string;
            file_name?: string;
            mime_type: string;
            ref: string;
        };
        Setting: {
            applied: string;
            asked: string;
            /** @enum {string} */
            outcome: "applied" | "adapted" | "dropped" | "refused" | "substituted";
            reason?: string;
            setting: string;
        };
        Sight: {
            /** @description The path from the root agent to the one that ran. */
            agent: string;
            /** @description Pictures of the message. */
            given: components["schemas"]["SeenImage"][];
            /** @description Pictures that the model does not accept are omitted; otherwise, they are an error. */
            lenient_images: boolean;
            /** @description The dispositions of the requested pictures and models. */
            settings: components["schemas"]["Setting"][];
            /** @description Pictures of actions shown to the model. */
            shown: components["schemas"]["SeenImage"][];
            /** @description The rule by which the model is shown the actions' pictures; omitted if it is shown none. */
            vision?: components["schemas"]["VisionContext"];
        };
        Slot: {
            error?: components["schemas"]["Failure"];
            /** Format: int64 */
            index: number;
            media?: components["schemas"]["Media"];
            revised_prompt?: string;
            /** Format: int64 */
            seed?: number;
            status: string;
        };
        Started: {
            conversation_id?: string;
            id: string;
            status: string;
        };
        Step: {
            /** Format: date-time */
            finished_at: string;
            /** @description Identifies the step in a fork. */
            name: string;
        };
        SubAction: {
            action_type: string;
            contents: components["schemas"]["GeneratedContent"][];
            cost_usd: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description The disposition of each setting. */
            dispositions?: unknown;
            /** Format: int64 */
            elapsed_ms?: number;
            error?: components["schemas"]["Failure"];
            /** @description The errors of missing results, by position. */
            errors: components["schemas"]["SubActionError"][];
            /** Format: date-time */
            finished_at?: string;
            id: string;
            interaction_id: string;
            model?: string;
            /** @description The generation that the sub-action started. */
            operation_id?: string;
            params?: unknown;
            prompt_as_sent?: string;
            prompt_id?: string;
            provider?: string;
            source_data?: unknown;
            /** @description The offline painter substitutes for the provider. */
            stand_in?: boolean;
            /** @enum {string} */
            status: "queued" | "submitted" | "running" | "succeeded" | "partial" | "failed" | "moderated" | "cancelled";
            step_id?: string;
            sub_action_id?: string;
            workflow_run_id: string;
        };
        SubActionError: {
            code: string;
            message: string;
            /** Format: int64 */
            position: number;
            retryable: boolean;
        };
        SubActionPrice: {
            /** @description US dollars; null if unknown. */
            estimated_usd: string | null;
        };
        SubActionRetry: {
            /** @description The failed results to retry; the default is all that can be retried without paying twice. */
            positions?: number[] | null;
        };
        Usage: {
            /** Format: int64 */
            images: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            model_calls: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            worked_ms: number;
        };
        VisionContext: {
            /** @description Names or tags of actions. */
            allowed_sources: string[];
            /** Format: int64 */
            max_images: number;
            /** Format: int64 */
            max_total_bytes: number;
            /** Format: int64 */
            turns_to_live: number;
        };
        Workflow: {
            /** @description The definition as JSON; omitted in lists. */
            definition?: unknown;
            description?: string;
            id: string;
            /** @description The first problem of a file that cannot run; its id is the file name. */
            problem?: string;
            /**
             * @description offline substitutes the offline painter for a provider without a key.
             * @enum {string}
             */
            stand_in?: "offline";
            /** @description The JSON Schema of a run's initial state. */
            state_schema?: unknown;
            steps: components["schemas"]["WorkflowStep"][];
            /** @description The unchanged text of the file; omitted in lists. */
            text?: string;
            /** @description How long an interaction waits for its answer. */
            timeout?: string;
            title: string;
        };
        WorkflowCheck: {
            /** @description The first interaction, if no step before it has to run. */
            preview?: components["schemas"]["Interaction"];
            /** @description In the order of the text; empty if there are none. */
            problems: components["schemas"]["WorkflowProblem"][];
            workflow?: components["schemas"]["Workflow"];
        };
        WorkflowFork: {
            /** @description The first step to execute again; the default is the first step of all. */
            step?: string;
        };
        WorkflowProblem: {
            /** Format: int64 */
            column: number;
            /** Format: int64 */
            line: number;
            message: string;
            pointer: string;
        };
        WorkflowRun: {
            cost: components["schemas"]["Cost"];
            /** @description Omitted in lists. */
            definition?: unknown;
            /** Format: date-time */
            ended_at?: string;
            error?: components["schemas"]["Failure"];
            forked_from?: string;
            id: string;
            /** @description The interaction at which a paused run is waiting; omitted in lists. */
            interaction_id?: string;
            /** Format: date-time */
            started_at: string;
            /** @description The state after the finished steps; omitted in lists. */
            state?: unknown;
            /** @enum {string} */
            status: "running" | "paused" | "succeeded" | "failed" | "cancelled";
            /** @description Empty in lists. */
            steps: components["schemas"]["WorkflowRunStep"][];
            title: string;
            /** @description Empty until the first step has started. */
            workflow_id?: string;
        };
        WorkflowRunStep: {
            /** Format: date-time */
            ended_at?: string;
            error?: components["schemas"]["Failure"];
            id: string;
            /** @description The interactions, oldest first. */
            interactions: string[];
            module_id: string;
            /** Format: date-time */
            started_at?: string;
            /** @enum {string} */
            status: "pending" | "running" | "paused" | "succeeded" | "failed" | "cancelled";
            title?: string;
        };
        WorkflowStep: {
            id: string;
            module_id: string;
            title?: string;
        };
        WorkflowText: {
            /** @description The initial state of the preview. */
            state?: unknown;
            text: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
