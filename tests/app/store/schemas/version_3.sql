-- The store as version 3 made it, frozen: never changed. 北京 was being answered when the process was killed.
CREATE TABLE folders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE chats (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT NOT NULL,
            named INTEGER NOT NULL,  -- 1: a person chose the title
            pinned INTEGER NOT NULL,
            folder INTEGER REFERENCES folders ON DELETE SET NULL,
            created_at REAL NOT NULL,  -- Unix seconds, here and below
            updated_at REAL NOT NULL,
            deleted_at REAL,
            settings TEXT NOT NULL  -- JSON: ChatSettings
        );
CREATE INDEX chats_by_date ON chats (updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX chats_by_folder ON chats (folder) WHERE folder IS NOT NULL;
CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            chat INTEGER NOT NULL REFERENCES chats ON DELETE CASCADE,
            parent INTEGER CHECK (parent < id),  -- NULL: the first message
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            state TEXT NOT NULL CHECK (state IN ('complete', 'streaming', 'interrupted')),
            shown INTEGER NOT NULL,
            created_at REAL NOT NULL,
            text TEXT NOT NULL,
            reports TEXT NOT NULL  -- JSON: list of Report
        );
CREATE INDEX messages_by_parent ON messages (chat, parent);
CREATE TABLE under_way (
            message INTEGER PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
            pid INTEGER NOT NULL,
            started REAL NOT NULL  -- when the process was started
        );
CREATE TABLE presets (name TEXT PRIMARY KEY, settings TEXT NOT NULL);
CREATE VIRTUAL TABLE found USING fts5 (
            terms, content = '', columnsize = 0, tokenize = 'ascii', prefix = '1 2 3'
        );
INSERT INTO folders VALUES (1, '서울');
INSERT INTO chats VALUES (1, 'Explain configuration', 0, 0, NULL, 1700000000.0, 1700000009.0, NULL, '{"system": "Be brief.", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.6, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}');
INSERT INTO chats VALUES (2, '여행', 1, 1, 1, 1700000010.0, 1700000019.0, NULL, '{"system": "", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}');
INSERT INTO chats VALUES (3, '北京', 0, 0, NULL, 1700000020.0, 1700000029.0, NULL, '{"system": "", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}');
INSERT INTO chats VALUES (4, 'Deleted', 0, 0, NULL, 1700000030.0, 1700000039.0, 1700000040.0, '{"system": "", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}');
INSERT INTO messages VALUES (1, 1, NULL, 'user', 'complete', 0, 1700000001.0, 'Explain configuration files.', '[]');
INSERT INTO messages VALUES (2, 1, 1, 'assistant', 'complete', 1, 1700000002.0, 'They hold settings.', '[{"settings": {"system": "Be brief.", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.6, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}, "pair": {"target": "Tiny-135M-Instruct", "draft": null, "dtype": "float32", "device": "cpu", "context": 2048}, "seed": 7, "drafter": "recycling", "budgets": [64, 32], "stop_reason": "end_of_sequence", "prompt_tokens": 12, "tokens": 5, "target_passes": 2, "tokens_per_pass": 2.0, "tokens_per_second": 12.5, "time_to_first_token_s": 0.25, "seconds": {"draft": 0.2, "target": 0.6, "stream_wait": 0.1, "other": 0.1}, "bytes_streamed": 4096}]');
INSERT INTO messages VALUES (3, 1, NULL, 'user', 'complete', 1, 1700000003.0, 'Explain TOML files.', '[]');
INSERT INTO messages VALUES (4, 1, 3, 'assistant', 'interrupted', 0, 1700000004.0, 'A TOML file', '[]');
INSERT INTO messages VALUES (5, 1, 3, 'assistant', 'complete', 1, 1700000005.0, 'TOML is a format.', '[{"settings": {"system": "Be brief.", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.6, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}, "pair": {"target": "Tiny-135M-Instruct", "draft": null, "dtype": "float32", "device": "cpu", "context": 2048}, "seed": 8, "drafter": "recycling", "budgets": [64, 32], "stop_reason": "end_of_sequence", "prompt_tokens": 12, "tokens": 5, "target_passes": 2, "tokens_per_pass": 2.0, "tokens_per_second": 12.5, "time_to_first_token_s": 0.25, "seconds": {"draft": 0.2, "target": 0.6, "stream_wait": 0.1, "other": 0.1}, "bytes_streamed": 4096}]');
INSERT INTO messages VALUES (6, 2, NULL, 'user', 'complete', 1, 1700000001.0, '서울시 맛집을 알려줘', '[]');
INSERT INTO messages VALUES (7, 3, NULL, 'user', 'complete', 1, 1700000001.0, '我想去北京市旅游', '[]');
INSERT INTO messages VALUES (8, 3, 7, 'assistant', 'streaming', 1, 1700000002.0, '好的，北京', '[]');
INSERT INTO messages VALUES (9, 4, NULL, 'user', 'complete', 1, 1700000001.0, 'forget this', '[]');
INSERT INTO under_way VALUES (8, 1073741824, 1700000000.0);
INSERT INTO presets VALUES ('Brief', '{"system": "Be brief.", "target": null, "draft": "auto", "context": null, "options": {"temperature": 0.6, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "log_probs": null, "seed": null, "max_new_tokens": null, "stop": [], "drafter": "auto", "budget": null, "beams": null, "depth": null}}');
INSERT INTO found (rowid, terms) VALUES (1, 'explain configuration files');
INSERT INTO found (rowid, terms) VALUES (2, 'they hold settings');
INSERT INTO found (rowid, terms) VALUES (3, 'explain toml files');
INSERT INTO found (rowid, terms) VALUES (4, 'a toml file');
INSERT INTO found (rowid, terms) VALUES (5, 'toml is a format');
INSERT INTO found (rowid, terms) VALUES (6, '서울 울시 시 맛집 집을 을 알려 려줘 줘');
INSERT INTO found (rowid, terms) VALUES (7, '我想 想去 去北 北京 京市 市旅 旅游 游');
INSERT INTO found (rowid, terms) VALUES (9, 'forget this');
CREATE TABLE unsent (
            chat INTEGER UNIQUE REFERENCES chats ON DELETE CASCADE,  -- NULL: the new chat
            typed TEXT NOT NULL,
            pasted TEXT NOT NULL  -- JSON: list of texts
        );
INSERT INTO unsent VALUES (NULL, '내일', '["a log"]');
INSERT INTO unsent VALUES (1, 'and YAML?', '[]');
CREATE TABLE files (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, pages INTEGER NOT NULL, tokens INTEGER NOT NULL, created_at REAL NOT NULL, picture BLOB NOT NULL);
CREATE TABLE passages (id INTEGER PRIMARY KEY, file TEXT NOT NULL, page INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX passages_by_file ON passages (file, id);
CREATE VIRTUAL TABLE sought USING fts5 (terms, content = '', tokenize = 'porter ascii');
ALTER TABLE messages ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
ALTER TABLE messages ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE unsent ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
INSERT INTO files VALUES ('f1', 'rivers.pdf', 'pdf', 2, 9, 1700000003.0, x'');
INSERT INTO passages VALUES (1, 'f1', 1, 'The Nile is long.');
INSERT INTO passages VALUES (2, 'f1', 2, '한강은 넓다.');
INSERT INTO sought (rowid, terms) VALUES (1, 'the nile is long');
INSERT INTO sought (rowid, terms) VALUES (2, '한강 강은 은 넓다 다');
UPDATE messages SET files = '[{"id": "f1", "name": "rivers.pdf", "kind": "pdf", "pages": 2, "tokens": 9, "way": "searched"}]',
 passages = '[{"file": "f1", "name": "rivers.pdf", "kind": "pdf", "page": 1, "text": "The Nile is long."}]' WHERE id = 3;
UPDATE unsent SET files = '[{"id": "f1", "name": "rivers.pdf", "kind": "pdf", "pages": 2, "tokens": 9}]' WHERE chat = 1;
ALTER TABLE messages ADD COLUMN calls TEXT NOT NULL DEFAULT '[]';
UPDATE messages SET calls = '[{"id": "a", "name": "date", "arguments": "{}", "server": "", "state": "done", "result": "Monday"}]' WHERE id = 2;
CREATE TABLE prompts (name TEXT PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO prompts VALUES ('Translate', 'Translate into {{language}}: ');
PRAGMA application_id = 1397048387;
PRAGMA user_version = 3;
