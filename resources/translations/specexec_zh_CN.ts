<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>AboutPage</name>
        <message>
            <source>Chat with a model larger than your graphics card. Free software under the Apache License 2.0. Everything runs on this machine: nothing you write in a chat leaves it, unless you add an engine elsewhere and choose one of its models; the header then says where it goes. No usage data is collected. The program connects to the Internet only for searches and downloads you start, for engines you add and, if you turn it on, to check for new versions.</source>
            <translation>与比显卡更大的模型对话。采用 Apache License 2.0 的自由软件。一切都在本机运行：除非您添加外部引擎并选择其模型，否则您在对话中输入的内容不会离开本机；若选择，窗口顶部会注明发送到哪里。不收集使用数据。程序仅在您启动的搜索和下载、您添加的引擎，以及（若您开启）检查新版本时连接互联网。</translation>
        </message>
        <message>
            <source>Libraries</source>
            <translation>所用的库</translation>
        </message>
        <message>
            <source>Logs</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Open: {}</source>
            <translation>打开：{}</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
    </context>
    <context>
        <name>AccessPage</name>
        <message>
            <source>1. Accept the licence</source>
            <translation>1. 接受许可协议</translation>
        </message>
        <message>
            <source>2. Enter an access token</source>
            <translation>2. 输入访问令牌</translation>
        </message>
        <message>
            <source>Access</source>
            <translation>访问权限</translation>
        </message>
        <message>
            <source>Access token</source>
            <translation>访问令牌</translation>
        </message>
        <message>
            <source>Check and continue</source>
            <translation>检查并继续</translation>
        </message>
        <message>
            <source>Checking…</source>
            <translation>正在检查…</translation>
        </message>
        <message>
            <source>Create an access token</source>
            <translation>创建访问令牌</translation>
        </message>
        <message>
            <source>Open the model's page</source>
            <translation>打开模型页面</translation>
        </message>
        <message>
            <source>Open the model's page, log in or create a free account, and accept the licence there.</source>
            <translation>打开模型页面，登录或免费注册账号，并在那里接受许可协议。</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>显示</translation>
        </message>
        <message>
            <source>Show the access token</source>
            <translation>显示访问令牌</translation>
        </message>
        <message>
            <source>The token identifies you to Hugging Face. A token of type “Read” is enough. It is stored in this system's keyring and sent only to Hugging Face.</source>
            <translation>令牌向 Hugging Face 表明您的身份。“Read”类型的令牌即可。它保存在本系统的密钥环中，且只发送给 Hugging Face。</translation>
        </message>
        <message>
            <source>This model requires your consent</source>
            <translation>此模型需要您同意其条款</translation>
        </message>
    </context>
    <context>
        <name>AlternativeRow</name>
        <message>
            <source>Choose</source>
            <translation>选择</translation>
        </message>
        <message>
            <source>Choose {}</source>
            <translation>选择 {}</translation>
        </message>
        <message>
            <source>{}: {}</source>
            <translation>{}：{}</translation>
        </message>
    </context>
    <context>
        <name>AnswerView</name>
        <message>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <source>Edit this answer</source>
            <translation>编辑此回答</translation>
        </message>
        <message>
            <source>Waiting for the model…</source>
            <translation>正在等待模型…</translation>
        </message>
    </context>
    <context>
        <name>Appearance</name>
        <message>
            <source>Text size: {}%</source>
            <translation>文字大小：{}%</translation>
        </message>
    </context>
    <context>
        <name>Attachments</name>
        <message>
            <source>Pasted picture</source>
            <translation>粘贴的图片</translation>
        </message>
        <message>
            <source>The model does not see pictures. It reads the text that Tesseract found in this one.</source>
            <translation>模型看不到图片。它会读取 Tesseract 在此图片中找到的文字。</translation>
        </message>
        <message>
            <source>The model does not see pictures. This one is kept in the chat.</source>
            <translation>模型看不到图片。此图片会保存在对话中。</translation>
        </message>
    </context>
    <context>
        <name>BackendsView</name>
        <message>
            <source>Compute device</source>
            <translation>计算设备</translation>
        </message>
    </context>
    <context>
        <name>BetterModel</name>
        <message>
            <source>Get a better one: {}, {}</source>
            <translation>获取更好的模型：{}，{}</translation>
        </message>
        <message>
            <source>Load a better one: {}</source>
            <translation>加载更好的模型：{}</translation>
        </message>
    </context>
    <context>
        <name>CallCard</name>
        <message>
            <source>Allow once</source>
            <translation>允许一次</translation>
        </message>
        <message>
            <source>Always allow</source>
            <translation>始终允许</translation>
        </message>
        <message>
            <source>Answer of the tool</source>
            <translation>工具的回答</translation>
        </message>
        <message>
            <source>Arguments</source>
            <translation>参数</translation>
        </message>
        <message>
            <source>Called. The answer is not checked: it may be wrong or try to mislead.</source>
            <translation>已调用。其回答未经核实：可能有误，也可能试图误导。</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Not called</source>
            <translation>未调用</translation>
        </message>
        <message>
            <source>Refuse</source>
            <translation>拒绝</translation>
        </message>
        <message>
            <source>Running…</source>
            <translation>正在运行…</translation>
        </message>
        <message>
            <source>Show or hide what the tool answered</source>
            <translation>显示或隐藏工具的回答</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>The model wants to call this tool with these arguments. Allow it?</source>
            <translation>模型想用这些参数调用此工具。是否允许？</translation>
        </message>
        <message>
            <source>What the tool answered</source>
            <translation>工具的回答内容</translation>
        </message>
        <message>
            <source>{} of the tool server {}</source>
            <translation>{} — 工具服务器 {}</translation>
        </message>
    </context>
    <context>
        <name>CardNotice</name>
        <message>
            <source>Use the graphics card</source>
            <translation>使用显卡</translation>
        </message>
        <message>
            <source>{} Its packages are downloaded once ({}), while you chat.</source>
            <translation>{} 所需的包只下载一次（{}），期间可以继续聊天。</translation>
        </message>
    </context>
    <context>
        <name>Catalogue</name>
        <message>
            <source>All models</source>
            <translation>所有模型</translation>
        </message>
        <message>
            <source>All variants</source>
            <translation>所有变体</translation>
        </message>
        <message>
            <source>Also show other formats and drafts of each model, which run slower</source>
            <translation>同时显示每个模型的其他格式和草稿模型，它们运行较慢</translation>
        </message>
        <message>
            <source>By name</source>
            <translation>按名称</translation>
        </message>
        <message>
            <source>Fastest first</source>
            <translation>最快优先</translation>
        </message>
        <message>
            <source>Largest download first</source>
            <translation>下载最大优先</translation>
        </message>
        <message>
            <source>No model matches these filters.</source>
            <translation>没有符合这些筛选条件的模型。</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>本机模型</translation>
        </message>
        <message>
            <source>Recommended first</source>
            <translation>推荐优先</translation>
        </message>
        <message>
            <source>Runs in</source>
            <translation>运行于</translation>
        </message>
        <message>
            <source>Search models</source>
            <translation>搜索模型</translation>
        </message>
        <message>
            <source>Smallest download first</source>
            <translation>下载最小优先</translation>
        </message>
        <message>
            <source>Sort by</source>
            <translation>排序方式</translation>
        </message>
    </context>
    <context>
        <name>Changes</name>
        <message>
            <source>Deleted the folder “{}”; its chats are kept</source>
            <translation>已删除文件夹“{}”，其中的对话已保留</translation>
        </message>
        <message>
            <source>Deleted “{}”</source>
            <translation>已删除“{}”</translation>
        </message>
        <message>
            <source>New folder</source>
            <translation>新建文件夹</translation>
        </message>
        <message>
            <source>New folder {}</source>
            <translation>新建文件夹 {}</translation>
        </message>
    </context>
    <context>
        <name>ChatInstructions</name>
        <message>
            <source>Removed the preset {}</source>
            <translation>已移除预设 {}</translation>
        </message>
        <message>
            <source>Removed the system prompt</source>
            <translation>已移除系统提示词</translation>
        </message>
        <message>
            <source>{} replaces the system prompt</source>
            <translation>已用预设 {} 替换系统提示词</translation>
        </message>
    </context>
    <context>
        <name>ChatList</name>
        <message>
            <source>Last used {}</source>
            <translation>上次使用 {}</translation>
        </message>
        <message>
            <source>{}, answering</source>
            <translation>{}，正在回答</translation>
        </message>
    </context>
    <context>
        <name>ChatMenu</name>
        <message>
            <source>Chat actions</source>
            <translation>对话操作</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Delete folder, keep chats</source>
            <translation>删除文件夹，保留对话</translation>
        </message>
        <message>
            <source>Duplicate</source>
            <translation>复制一份</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Move to folder</source>
            <translation>移动到文件夹</translation>
        </message>
        <message>
            <source>New folder…</source>
            <translation>新建文件夹…</translation>
        </message>
        <message>
            <source>No folder</source>
            <translation>无文件夹</translation>
        </message>
        <message>
            <source>Open in a new window</source>
            <translation>在新窗口中打开</translation>
        </message>
        <message>
            <source>Pin</source>
            <translation>置顶</translation>
        </message>
        <message>
            <source>Print…</source>
            <translation>打印…</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <source>Save as PDF…</source>
            <translation>另存为 PDF…</translation>
        </message>
        <message>
            <source>Unpin</source>
            <translation>取消置顶</translation>
        </message>
    </context>
    <context>
        <name>ChatRow</name>
        <message>
            <source>Automatic title</source>
            <translation>自动标题</translation>
        </message>
        <message>
            <source>Chat title</source>
            <translation>对话标题</translation>
        </message>
        <message>
            <source>Folder name</source>
            <translation>文件夹名称</translation>
        </message>
    </context>
    <context>
        <name>ChatView</name>
        <message>
            <source>Chats</source>
            <translation>对话列表</translation>
        </message>
    </context>
    <context>
        <name>ChoiceEditor</name>
        <message>
            <source>{} (not available)</source>
            <translation>{}（不可用）</translation>
        </message>
    </context>
    <context>
        <name>ChoosePage</name>
        <message>
            <source>Any model from Hugging Face</source>
            <translation>Hugging Face 上的任意模型</translation>
        </message>
        <message>
            <source>Catalogue</source>
            <translation>模型目录</translation>
        </message>
        <message>
            <source>Choose</source>
            <translation>选择</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>Estimating which models run here</source>
            <translation>正在估计本机能运行哪些模型</translation>
        </message>
        <message>
            <source>Estimating which models run on this machine, and how fast…</source>
            <translation>正在估计本机能运行哪些模型、速度如何…</translation>
        </message>
        <message>
            <source>Larger models know more and answer more slowly. If you are not sure, take the recommended one. You can get others at any time.</source>
            <translation>更大的模型知道得更多，回答得更慢。拿不准就选推荐的。其他模型随时都可以获取。</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>立即加载</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>下一步</translation>
        </message>
        <message>
            <source>Next ({} to download)</source>
            <translation>下一步（需下载 {}）</translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message>
            <source>Attach files</source>
            <translation>附加文件</translation>
        </message>
        <message>
            <source>Cancel loading</source>
            <translation>取消加载</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Ctrl+Enter</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Enter</translation>
        </message>
        <message>
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Message</source>
            <translation>消息</translation>
        </message>
        <message>
            <source>Message — Ctrl+Enter to send, Enter for a new line</source>
            <translation>消息 — Ctrl+Enter 发送，Enter 换行</translation>
        </message>
        <message>
            <source>Message — Enter to send, Shift+Enter for a new line</source>
            <translation>消息 — Enter 发送，Shift+Enter 换行</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>发送</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
    </context>
    <context>
        <name>ContextBar</name>
        <message>
            <source>Larger context: {} tokens</source>
            <translation>更大的上下文：{} 个词元</translation>
        </message>
        <message>
            <source>Larger context: {} tokens, {} more memory</source>
            <translation>更大的上下文：{} 个词元，多用 {} 内存</translation>
        </message>
        <message>
            <source>Leave out the oldest turns</source>
            <translation>略去最早的问答</translation>
        </message>
        <message>
            <source>New chat with this</source>
            <translation>用此消息新建对话</translation>
        </message>
        <message>
            <source>That is more than fits.</source>
            <translation>已超出可容纳的数量。</translation>
        </message>
        <message>
            <source>The model then reads the newest questions and answers only. The chat keeps all of them.</source>
            <translation>此后模型只读取最近的问答；所有内容仍保留在对话中。</translation>
        </message>
        <message>
            <source>This message adds about {}.</source>
            <translation>此消息约增加 {} 个。</translation>
        </message>
        <message>
            <source>{} of {} tokens of the context are used.</source>
            <translation>上下文已使用 {} 个词元，共 {} 个。</translation>
        </message>
    </context>
    <context>
        <name>CopyButton</name>
        <message>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
    </context>
    <context>
        <name>CopyRow</name>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Copy: {}</source>
            <translation>复制：{}</translation>
        </message>
    </context>
    <context>
        <name>Decoration</name>
        <message>
            <source>Code</source>
            <translation>代码</translation>
        </message>
    </context>
    <context>
        <name>DownloadIndicator</name>
        <message>
            <source>Choose and download a model that answers better than the included one</source>
            <translation>选择并下载一个比自带模型回答得更好的模型</translation>
        </message>
        <message>
            <source>Download paused</source>
            <translation>下载已暂停</translation>
        </message>
        <message>
            <source>Download stopped</source>
            <translation>下载已停止</translation>
        </message>
        <message>
            <source>Downloads</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Get a model</source>
            <translation>获取模型</translation>
        </message>
        <message>
            <source>Model ready</source>
            <translation>模型已就绪</translation>
        </message>
        <message>
            <source>cancelled</source>
            <translation>已取消</translation>
        </message>
        <message>
            <source>downloading</source>
            <translation>正在下载</translation>
        </message>
        <message>
            <source>not finished</source>
            <translation>未完成</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
    </context>
    <context>
        <name>DownloadPage</name>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Downloads</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Nothing is being downloaded. Go back to choose a model.</source>
            <translation>没有正在进行的下载。请返回选择模型。</translation>
        </message>
        <message>
            <source>You can close this window and chat while downloads continue; the button at the top of the chat brings you back. If you quit the program, you can resume them when it starts again.</source>
            <translation>您可以关闭此窗口去对话，下载会继续进行；对话顶部的按钮可带您回到这里。如果退出程序，下次启动时可以继续下载。</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>A tiny demo model answers for now. It understands English only, knows simple facts, and is often wrong.</source>
            <translation>目前由一个很小的演示模型回答。它只懂英语，只知道简单的事实，而且经常出错。</translation>
        </message>
        <message>
            <source>Ask the model something</source>
            <translation>向模型提问吧</translation>
        </message>
        <message>
            <source>Everything runs on this computer, and nothing you write leaves it.</source>
            <translation>一切都在这台电脑上运行，您写的内容不会离开它。</translation>
        </message>
        <message>
            <source>Explain in three sentences how a refrigerator works</source>
            <translation>用三句话解释冰箱的工作原理</translation>
        </message>
        <message>
            <source>Get a better model</source>
            <translation>获取更好的模型</translation>
        </message>
        <message>
            <source>Suggest a name and a slogan for a small bakery by the sea</source>
            <translation>为海边的一家小面包店起名并写一句口号</translation>
        </message>
        <message>
            <source>Suggestion: {}</source>
            <translation>建议：{}</translation>
        </message>
        <message>
            <source>The model runs at {}, and what you write here is sent there.</source>
            <translation>模型在 {} 上运行，您在此输入的内容会发送到那里。</translation>
        </message>
        <message>
            <source>Write a Python function that finds the longest common prefix of a list of strings</source>
            <translation>写一个 Python 函数，找出一组字符串的最长公共前缀</translation>
        </message>
    </context>
    <context>
        <name>EngineEditor</name>
        <message>
            <source>A file with the certificate that signs the server's own, in PEM, if the system has it not</source>
            <translation>签署服务器证书的证书文件（PEM），用于系统中没有该证书的情况</translation>
        </message>
        <message>
            <source>Add</source>
            <translation>添加</translation>
        </message>
        <message>
            <source>Add an engine</source>
            <translation>添加引擎</translation>
        </message>
        <message>
            <source>Address</source>
            <translation>地址</translation>
        </message>
        <message>
            <source>Asking for its models…</source>
            <translation>正在查询其模型…</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Certificate</source>
            <translation>证书</translation>
        </message>
        <message>
            <source>Chats with a model of this engine are sent to it. The key is stored in this system's keyring, and is sent only there.</source>
            <translation>与此引擎的模型进行的对话会发送给它。密钥保存在系统的密钥环中，且仅发送到那里。</translation>
        </message>
        <message>
            <source>Choose the certificate</source>
            <translation>选择证书</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>选择…</translation>
        </message>
        <message>
            <source>How you want to call it</source>
            <translation>您想使用的名称</translation>
        </message>
        <message>
            <source>It answers. Models: {}</source>
            <translation>有响应。模型：{}</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>密钥</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>New engine</source>
            <translation>新引擎</translation>
        </message>
        <message>
            <source>None, if it asks for none</source>
            <translation>如不需要则留空</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Send the key unencrypted</source>
            <translation>以未加密方式发送密钥</translation>
        </message>
        <message>
            <source>Test</source>
            <translation>测试</translation>
        </message>
        <message>
            <source>Test: list the models of this engine</source>
            <translation>测试：列出此引擎的模型</translation>
        </message>
        <message>
            <source>The system's</source>
            <translation>系统证书</translation>
        </message>
        <message>
            <source>Unchanged</source>
            <translation>保持不变</translation>
        </message>
        <message>
            <source>and {} more</source>
            <translation>以及另外 {} 个</translation>
        </message>
    </context>
    <context>
        <name>EnginePage</name>
        <message>
            <source>In use</source>
            <translation>正在使用</translation>
        </message>
        <message>
            <source>PyTorch</source>
            <translation>PyTorch</translation>
        </message>
        <message>
            <source>Repair</source>
            <translation>修复</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>Switch to this engine</source>
            <translation>切换到此引擎</translation>
        </message>
        <message>
            <source>The current engine stays in use until the new one has passed its test. The model is unloaded during that test.</source>
            <translation>新引擎通过测试之前会继续使用当前的引擎。测试期间会卸载模型。</translation>
        </message>
        <message>
            <source>built in</source>
            <translation>内置</translation>
        </message>
        <message>
            <source>from an earlier version; repair it</source>
            <translation>来自较早的版本；请修复</translation>
        </message>
        <message>
            <source>missing; repair it</source>
            <translation>缺失；请修复</translation>
        </message>
    </context>
    <context>
        <name>EngineRows</name>
        <message>
            <source>Asking for its models…</source>
            <translation>正在查询其模型…</translation>
        </message>
        <message>
            <source>context {} tokens</source>
            <translation>上下文 {} 词元</translation>
        </message>
        <message>
            <source>goes to {}</source>
            <translation>发送到 {}</translation>
        </message>
        <message>
            <source>loaded now</source>
            <translation>当前已加载</translation>
        </message>
        <message>
            <source>{} · elsewhere, at {}</source>
            <translation>{} · 外部，位于 {}</translation>
        </message>
    </context>
    <context>
        <name>EnginesPage</name>
        <message>
            <source>Add an engine…</source>
            <translation>添加引擎…</translation>
        </message>
        <message>
            <source>Change the engine</source>
            <translation>更改引擎</translation>
        </message>
        <message>
            <source>Change…</source>
            <translation>更改…</translation>
        </message>
        <message>
            <source>Engines elsewhere</source>
            <translation>外部引擎</translation>
        </message>
        <message>
            <source>Its key is deleted, too. Chats stay; nothing changes at {}.</source>
            <translation>其密钥也会被删除。对话会保留；{} 上不会有任何更改。</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Models of another machine or service can answer here, too: a server that speaks OpenAI's interface, such as vLLM, SGLang, llama.cpp or another SpecExec. What you write in chats with them is sent there; the header says so.</source>
            <translation>其他计算机或服务的模型也可以在此回答：支持 OpenAI 接口的服务器，例如 vLLM、SGLang、llama.cpp 或另一个 SpecExec。您在与它们的对话中输入的内容会发送到那里，窗口顶部会注明。</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Remove the engine</source>
            <translation>移除引擎</translation>
        </message>
        <message>
            <source>Remove {}?</source>
            <translation>移除 {}？</translation>
        </message>
        <message>
            <source>Remove…</source>
            <translation>移除…</translation>
        </message>
        <message>
            <source>{} was saved. Choose its models in the header.</source>
            <translation>已保存 {}。请在窗口顶部选择其模型。</translation>
        </message>
    </context>
    <context>
        <name>FiguresButton</name>
        <message>
            <source>Figures of this answer</source>
            <translation>这个回答的数据</translation>
        </message>
    </context>
    <context>
        <name>FileChips</name>
        <message>
            <source>Files</source>
            <translation>文件</translation>
        </message>
        <message>
            <source>Remove {}</source>
            <translation>移除 {}</translation>
        </message>
        <message>
            <source>Show {}</source>
            <translation>查看 {}</translation>
        </message>
        <message>
            <source>reading…</source>
            <translation>正在读取…</translation>
        </message>
    </context>
    <context>
        <name>FilePreview</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>The first {} of {} characters are shown.</source>
            <translation>仅显示前 {} 个字符（共 {} 个）。</translation>
        </message>
    </context>
    <context>
        <name>FindBar</name>
        <message>
            <source>Aa</source>
            <translation>Aa</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>在此对话中查找</translation>
        </message>
        <message>
            <source>Match case</source>
            <translation>区分大小写</translation>
        </message>
        <message>
            <source>Next match</source>
            <translation>下一个匹配项</translation>
        </message>
        <message>
            <source>No matches</source>
            <translation>没有匹配项</translation>
        </message>
        <message>
            <source>Previous match</source>
            <translation>上一个匹配项</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
    </context>
    <context>
        <name>Foot</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Let another machine or service answer; nothing is downloaded</source>
            <translation>让其他计算机或服务回答；无需下载</translation>
        </message>
        <message>
            <source>Use an engine elsewhere…</source>
            <translation>使用外部引擎…</translation>
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>No setting matches.</source>
            <translation>没有匹配的设置。</translation>
        </message>
        <message>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
    </context>
    <context>
        <name>Glossary</name>
        <message>
            <source>A method that proposes how the text might go on: a small model (the draft), trained heads, or a search in the text so far.</source>
            <translation>提出后续文本候选的方法：小模型（草稿模型）、训练好的预测头，或在已有文本中查找。</translation>
        </message>
        <message>
            <source>A proposed token that the target would have chosen itself. It stays in the answer.</source>
            <translation>目标模型自己也会选择的候选词元。它会保留在回答中。</translation>
        </message>
        <message>
            <source>A word or a part of a word. Models read and write token by token.</source>
            <translation>一个词或词的一部分。模型逐个词元地读写。</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Formats that store weights in 4 or 8 bits, so that a model takes less memory.</source>
            <translation>以 4 位或 8 位存储权重的格式，使模型占用更少的内存。</translation>
        </message>
        <message>
            <source>How exactly the model calculates: with 32 or 16 bits for each number.</source>
            <translation>模型计算的精度：每个数使用 32 位或 16 位。</translation>
        </message>
        <message>
            <source>In some models each layer has many parts of which every token uses only a few: a mixture of experts. Those used most stay in memory, the others are read when needed.</source>
            <translation>有些模型的每一层都有许多部分，每个词元只用到其中几个，这就是混合专家模型。最常用的留在内存中，其余的在需要时读取。</translation>
        </message>
        <message>
            <source>KV cache</source>
            <translation>KV 缓存</translation>
        </message>
        <message>
            <source>One run through all of the target's weights. It takes nearly as long for one token as for many, which is why guessing ahead pays.</source>
            <translation>完整使用一次目标模型的全部权重。处理一个词元与处理多个词元用时几乎相同，因此预先猜测是划算的。</translation>
        </message>
        <message>
            <source>One tree and the pass that verifies it.</source>
            <translation>一棵树以及验证它的那一遍。</translation>
        </message>
        <message>
            <source>Q4_K, Q8_0, AWQ, GPTQ</source>
            <translation>Q4_K、Q8_0、AWQ、GPTQ</translation>
        </message>
        <message>
            <source>The model that answers. Every token of the answer is its choice.</source>
            <translation>负责回答的模型。回答中的每个词元都由它选定。</translation>
        </message>
        <message>
            <source>The numbers that a model consists of. Those that do not fit into memory are streamed: read from the disk, or sent to the graphics card, in every pass.</source>
            <translation>构成模型的数值。放不进内存的部分以流式方式使用：每一遍都从磁盘读取，或传送到显卡。</translation>
        </message>
        <message>
            <source>The proposals of one iteration. Each node is a token; each path from the root is a way to go on. The budget is the largest number of nodes.</source>
            <translation>一轮迭代中的候选。每个节点是一个词元，从根出发的每条路径是一种续写。预算是节点数的上限。</translation>
        </message>
        <message>
            <source>The token that the target adds after the last accepted one, in the same pass.</source>
            <translation>目标模型在同一遍中、在最后一个被接受的词元之后添加的词元。</translation>
        </message>
        <message>
            <source>What a model remembers of the text so far. It grows with the context: the number of tokens that fit into question and answer together.</source>
            <translation>模型对已有文本的记忆。它随上下文增大，即问题与回答合计可容纳的词元数。</translation>
        </message>
        <message>
            <source>What the words mean</source>
            <translation>术语说明</translation>
        </message>
        <message>
            <source>Writing without guesses: each pass of the target adds one token.</source>
            <translation>不作猜测的生成方式：目标模型每一遍增加一个词元。</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>接受</translation>
        </message>
        <message>
            <source>bonus token</source>
            <translation>奖励词元</translation>
        </message>
        <message>
            <source>drafter</source>
            <translation>起草方法</translation>
        </message>
        <message>
            <source>experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <source>float32, bfloat16, float16</source>
            <translation>float32、bfloat16、float16</translation>
        </message>
        <message>
            <source>iteration</source>
            <translation>迭代</translation>
        </message>
        <message>
            <source>pass</source>
            <translation>遍</translation>
        </message>
        <message>
            <source>plain decoding</source>
            <translation>普通解码</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标模型</translation>
        </message>
        <message>
            <source>token</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>token tree</source>
            <translation>词元树</translation>
        </message>
        <message>
            <source>weights</source>
            <translation>权重</translation>
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>A tiny demo model</source>
            <translation>很小的演示模型</translation>
        </message>
        <message>
            <source>Chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>Chats (Ctrl+B)</source>
            <translation>对话列表 (Ctrl+B)</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>How the answer was made</source>
            <translation>回答的生成过程</translation>
        </message>
        <message>
            <source>How the answer was made (Ctrl+T)</source>
            <translation>回答的生成过程 (Ctrl+T)</translation>
        </message>
        <message>
            <source>Model: {}</source>
            <translation>模型：{}</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>新对话</translation>
        </message>
        <message>
            <source>New chat (Ctrl+N)</source>
            <translation>新对话 (Ctrl+N)</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Settings (Ctrl+,)</source>
            <translation>设置 (Ctrl+,)</translation>
        </message>
        <message>
            <source>{}: choose another model</source>
            <translation>{}：选择其他模型</translation>
        </message>
    </context>
    <context>
        <name>Histogram</name>
        <message>
            <source>Accepted nodes per iteration</source>
            <translation>每轮迭代接受的节点数</translation>
        </message>
        <message>
            <source>{} accepted: {}×</source>
            <translation>接受 {} 个：{} 次</translation>
        </message>
    </context>
    <context>
        <name>HubSearch</name>
        <message>
            <source>Contacting Hugging Face</source>
            <translation>正在连接 Hugging Face</translation>
        </message>
        <message>
            <source>Name or address of a model, or search words</source>
            <translation>模型的名称或网址，或搜索词</translation>
        </message>
        <message>
            <source>No models found. Check the spelling, or use fewer words.</source>
            <translation>未找到模型。请检查拼写，或减少搜索词。</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>Search for a model on huggingface.co, or paste its name or address. You then choose one of its formats, and a draft that suits it is proposed.</source>
            <translation>在 huggingface.co 上搜索模型，或粘贴模型的名称或网址。然后您选择它的一种格式，程序会建议匹配的草稿模型。</translation>
        </message>
        <message>
            <source>Search results</source>
            <translation>搜索结果</translation>
        </message>
        <message>
            <source>Select a model and press Enter.</source>
            <translation>选择一个模型并按 Enter。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <source>account required</source>
            <translation>需要账号</translation>
        </message>
        <message>
            <source>owner/name, an address on huggingface.co, or search words</source>
            <translation>所有者/名称、huggingface.co 网址或搜索词</translation>
        </message>
        <message>
            <source>{} downloads</source>
            <translation>{} 次下载</translation>
        </message>
    </context>
    <context>
        <name>ImportBar</name>
        <message>
            <source>Importing: {} of {} chats</source>
            <translation>正在导入：{} / {} 个对话</translation>
        </message>
        <message>
            <source>Progress of the import</source>
            <translation>导入进度</translation>
        </message>
        <message>
            <source>Reading {}…</source>
            <translation>正在读取 {}…</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Stop the import</source>
            <translation>停止导入</translation>
        </message>
    </context>
    <context>
        <name>Importing</name>
        <message>
            <source>Free some memory and try again.</source>
            <translation>请释放一些内存后重试。</translation>
        </message>
        <message>
            <source>Free some memory and try again; a smaller part of the file may work.</source>
            <translation>请释放一些内存后重试；只用文件的一小部分也许可行。</translation>
        </message>
        <message>
            <source>Import a smaller part of it.</source>
            <translation>请导入其中较小的一部分。</translation>
        </message>
        <message>
            <source>Reading {} ended unexpectedly.</source>
            <translation>读取 {} 时意外中断。</translation>
        </message>
        <message>
            <source>Reading {} takes too much memory or time.</source>
            <translation>读取 {} 占用的内存或时间过多。</translation>
        </message>
    </context>
    <context>
        <name>Instructions</name>
        <message>
            <source>Change the system prompt</source>
            <translation>更改系统提示词</translation>
        </message>
        <message>
            <source>Preset {}: change</source>
            <translation>预设 {}：更改</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>System prompt or preset</source>
            <translation>系统提示词或预设</translation>
        </message>
        <message>
            <source>System prompt: {}</source>
            <translation>系统提示词：{}</translation>
        </message>
    </context>
    <context>
        <name>InstructionsPopup</name>
        <message>
            <source>All settings…</source>
            <translation>所有设置…</translation>
        </message>
        <message>
            <source>Done</source>
            <translation>完成</translation>
        </message>
        <message>
            <source>No presets yet. You can save one in the settings.</source>
            <translation>还没有预设。您可以在设置中保存。</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>系统提示词</translation>
        </message>
        <message>
            <source>System prompt and presets</source>
            <translation>系统提示词和预设</translation>
        </message>
        <message>
            <source>What the model should know and how it should answer, in this chat</source>
            <translation>在这个对话中，模型应知道什么、该如何回答</translation>
        </message>
    </context>
    <context>
        <name>IterationBars</name>
        <message>
            <source>No iterations yet.</source>
            <translation>还没有迭代。</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>每轮迭代的秒数</translation>
        </message>
        <message>
            <source>drafted during the pass</source>
            <translation>这一遍期间起草</translation>
        </message>
        <message>
            <source>its share of the next tree</source>
            <translation>其中进入下一棵树的部分</translation>
        </message>
        <message>
            <source>longest: {} s</source>
            <translation>最长：{} 秒</translation>
        </message>
        <message>
            <source>{} of {} nodes drafted during passes survived</source>
            <translation>各遍期间起草的节点中有 {} 个（共 {} 个）留存</translation>
        </message>
    </context>
    <context>
        <name>KeptChats</name>
        <message>
            <source>Clear the chat cache</source>
            <translation>清空对话缓存</translation>
        </message>
        <message>
            <source>Clearing… An answer in progress is finished first.</source>
            <translation>正在清空… 会先完成正在生成的回答。</translation>
        </message>
        <message>
            <source>Delete what is kept of chats; the chats stay</source>
            <translation>删除为对话保留的计算结果；对话本身会保留</translation>
        </message>
        <message>
            <source>Freed {} of RAM and {} on the disk. The chats stay; they are read anew once.</source>
            <translation>已释放内存 {}、磁盘 {}。对话仍然保留，下次会重新读取一次。</translation>
        </message>
    </context>
    <context>
        <name>KeyboardPage</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>键盘快捷键</translation>
        </message>
    </context>
    <context>
        <name>LaneView</name>
        <message>
            <source>finished after {} s</source>
            <translation>用时 {} 秒完成</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>tokens per pass</source>
            <translation>每遍词元数</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>词元/秒</translation>
        </message>
    </context>
    <context>
        <name>LayerStrip</name>
        <message>
            <source>Layers of the current pass</source>
            <translation>当前一遍的各层</translation>
        </message>
        <message>
            <source>layer {} of {}</source>
            <translation>第 {} / {} 层</translation>
        </message>
    </context>
    <context>
        <name>LeftBehind</name>
        <message>
            <source>Leave them there</source>
            <translation>留在原处</translation>
        </message>
        <message>
            <source>Models from an earlier version are in {}, a cache, which clean-up programs may empty. They are safer in {}.</source>
            <translation>较早版本的模型位于 {}，这是缓存，清理程序可能会清空它。放在 {} 更安全。</translation>
        </message>
        <message>
            <source>Move models</source>
            <translation>移动模型</translation>
        </message>
    </context>
    <context>
        <name>LocalServer</name>
        <message>
            <source>Another program uses port {} already.</source>
            <translation>端口 {} 已被其他程序占用。</translation>
        </message>
        <message>
            <source>Choose another port below, then start the server again.</source>
            <translation>请在下方选择其他端口，然后重新启动服务器。</translation>
        </message>
        <message>
            <source>Free some memory and try again.</source>
            <translation>请释放一些内存后重试。</translation>
        </message>
        <message>
            <source>Start it again. If it happens again, read its log.</source>
            <translation>请重新启动。如果再次发生，请查看日志。</translation>
        </message>
        <message>
            <source>The local server cannot be started: {}</source>
            <translation>无法启动本地服务器：{}</translation>
        </message>
        <message>
            <source>The local server ended unexpectedly.</source>
            <translation>本地服务器意外结束。</translation>
        </message>
    </context>
    <context>
        <name>MachinePage</name>
        <message>
            <source>1 core</source>
            <translation>1 个核心</translation>
        </message>
        <message>
            <source>Disk for models</source>
            <translation>存放模型的磁盘</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>Large models are spread over graphics card, memory and disk. The speed of an answer depends on how much of each this machine has, and on how fast its disk is.</source>
            <translation>大型模型分布在显卡、内存和磁盘上。回答的速度取决于本机这三者的容量，以及磁盘的速度。</translation>
        </message>
        <message>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>Measuring</source>
            <translation>正在测量</translation>
        </message>
        <message>
            <source>Measuring the speed of the disk. This takes a few seconds; you can continue meanwhile.</source>
            <translation>正在测量磁盘速度，需要几秒钟。其间您可以继续。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>None suitable</source>
            <translation>没有合适的显卡</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <source>The processor does all the work, which is slower.</source>
            <translation>全部工作由处理器完成，速度较慢。</translation>
        </message>
        <message>
            <source>This machine</source>
            <translation>本机</translation>
        </message>
        <message>
            <source>What this machine can do</source>
            <translation>本机的能力</translation>
        </message>
        <message>
            <source>reads {} GB/s, measured</source>
            <translation>读取速度 {} GB/s，实测</translation>
        </message>
        <message>
            <source>receives up to {} GB/s from memory</source>
            <translation>从内存接收的速度最高 {} GB/s</translation>
        </message>
        <message>
            <source>receives {} GB/s from memory, measured</source>
            <translation>从内存接收的速度 {} GB/s，实测</translation>
        </message>
        <message>
            <source>speed not measured yet</source>
            <translation>速度尚未测量</translation>
        </message>
        <message>
            <source>{} cores</source>
            <translation>{} 个核心</translation>
        </message>
        <message>
            <source>{} free</source>
            <translation>{} 可用</translation>
        </message>
        <message>
            <source>{} free now</source>
            <translation>目前 {} 可用</translation>
        </message>
        <message>
            <source>{} of graphics memory, {} free now</source>
            <translation>显存 {}，目前 {} 可用</translation>
        </message>
    </context>
    <context>
        <name>MemoryBars</name>
        <message>
            <source>Memory by tier</source>
            <translation>各层级内存</translation>
        </message>
        <message>
            <source>No model is loaded.</source>
            <translation>未加载模型。</translation>
        </message>
        <message>
            <source>Peak RAM of the engine, program included: {}.</source>
            <translation>引擎的内存占用峰值（含程序本身）：{}。</translation>
        </message>
        <message>
            <source>RAM</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>SSD</source>
            <translation>SSD</translation>
        </message>
        <message>
            <source>SSD, read in every pass</source>
            <translation>SSD，每遍读取</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>显存</translation>
        </message>
        <message>
            <source>all experts, read when needed</source>
            <translation>全部专家（需要时读取）</translation>
        </message>
        <message>
            <source>draft KV cache</source>
            <translation>草稿模型的 KV 缓存</translation>
        </message>
        <message>
            <source>draft weights</source>
            <translation>草稿模型的权重</translation>
        </message>
        <message>
            <source>experts in memory</source>
            <translation>内存中的专家</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>预测头</translation>
        </message>
        <message>
            <source>other chats</source>
            <translation>其他对话</translation>
        </message>
        <message>
            <source>slots for streamed layers</source>
            <translation>流式层的槽位</translation>
        </message>
        <message>
            <source>target KV cache</source>
            <translation>目标模型的 KV 缓存</translation>
        </message>
        <message>
            <source>target weights</source>
            <translation>目标模型的权重</translation>
        </message>
        <message>
            <source>target: the model that answers
draft: the small model that proposes tokens
heads: small networks that propose tokens from the target's own results
experts: parts of a layer of which each token uses a few; those used most stay in memory
KV cache: what a model remembers of the text so far
slots: buffers into which streamed layers are loaded in turn</source>
            <translation>目标模型：给出回答的模型
草稿模型：提出候选词元的小模型
头：根据目标模型自身的结果提出候选词元的小型网络
专家：层的一部分，每个词元只用到其中几个；用得最多的留在内存中
KV 缓存：模型对已有文本的记忆
槽位：流式层轮流载入的缓冲区</translation>
        </message>
    </context>
    <context>
        <name>MemoryMark</name>
        <message>
            <source>Read all of it again</source>
            <translation>重新读取全部</translation>
        </message>
        <message>
            <source>Send the whole chat to the model again</source>
            <translation>将整个对话重新发送给模型</translation>
        </message>
        <message>
            <source>The model no longer reads what stands above.</source>
            <translation>模型不再读取以上内容。</translation>
        </message>
    </context>
    <context>
        <name>MessageActions</name>
        <message>
            <source>Answer again with the same seed</source>
            <translation>用相同的种子重新回答</translation>
        </message>
        <message>
            <source>Answer again with the seed, settings and budgets of this answer. With the same models and the same arithmetic, the text is the same, except where the processor helps a graphics card with the experts of a mixture: there, rounding may change it.</source>
            <translation>用此回答的种子、设置和预算重新回答。模型和运算方式相同时，文本也相同；但处理器协助显卡计算混合模型的专家时，文本可能因舍入而不同。</translation>
        </message>
        <message>
            <source>Answer again, with another seed</source>
            <translation>换一个种子重新回答</translation>
        </message>
        <message>
            <source>Answer this question twice, as a race</source>
            <translation>让这个问题回答两次，进行比赛</translation>
        </message>
        <message>
            <source>Continue this answer</source>
            <translation>继续写这个回答</translation>
        </message>
        <message>
            <source>Copy message</source>
            <translation>复制消息</translation>
        </message>
        <message>
            <source>Delete this message and those that follow from it</source>
            <translation>删除此消息及其后续消息</translation>
        </message>
        <message>
            <source>Edit and send again</source>
            <translation>编辑并重新发送</translation>
        </message>
        <message>
            <source>Start a new chat from here</source>
            <translation>从此处开始新对话</translation>
        </message>
    </context>
    <context>
        <name>MessageDocument</name>
        <message>
            <source>[image not loaded: {}]</source>
            <translation>[未加载的图片：{}]</translation>
        </message>
    </context>
    <context>
        <name>MessageEditor</name>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Ctrl+Enter. The previous version is kept.</source>
            <translation>Ctrl+Enter。原来的版本会保留。</translation>
        </message>
        <message>
            <source>Edit message</source>
            <translation>编辑消息</translation>
        </message>
        <message>
            <source>Enter. The previous version is kept.</source>
            <translation>Enter。原来的版本会保留。</translation>
        </message>
        <message>
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>发送</translation>
        </message>
    </context>
    <context>
        <name>ModelsFolder</name>
        <message>
            <source>Models folder</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>正在移动您的模型</translation>
        </message>
        <message>
            <source>The environment variable {} sets this folder.</source>
            <translation>此文件夹由环境变量 {} 指定。</translation>
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>1 model, {}</source>
            <translation>1 个模型，{}</translation>
        </message>
        <message>
            <source>Add a model file…</source>
            <translation>添加模型文件…</translation>
        </message>
        <message>
            <source>Delete the model</source>
            <translation>删除模型</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>删除…</translation>
        </message>
        <message>
            <source>Load a model from a file anywhere on this machine</source>
            <translation>从本机任意位置的文件加载模型</translation>
        </message>
        <message>
            <source>Models on this machine</source>
            <translation>本机上的模型</translation>
        </message>
        <message>
            <source>Move the models to another folder</source>
            <translation>把模型移到另一个文件夹</translation>
        </message>
        <message>
            <source>Move…</source>
            <translation>移动…</translation>
        </message>
        <message>
            <source>No models yet. Click the model's name at the top of the chat (Ctrl+M) to get one.</source>
            <translation>还没有模型。点击对话顶部的模型名称 (Ctrl+M) 即可获取。</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Open the models folder</source>
            <translation>打开模型文件夹</translation>
        </message>
        <message>
            <source>{} models, {}</source>
            <translation>{} 个模型，{}</translation>
        </message>
    </context>
    <context>
        <name>MoreRoom</name>
        <message>
            <source>Ask without the files</source>
            <translation>不带文件提问</translation>
        </message>
        <message>
            <source>Edit the message</source>
            <translation>编辑消息</translation>
        </message>
        <message>
            <source>Leave out the oldest turns</source>
            <translation>略去最早的问答</translation>
        </message>
    </context>
    <context>
        <name>NoteBar</name>
        <message>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
    </context>
    <context>
        <name>Notice</name>
        <message>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <source>Problem: {}</source>
            <translation>问题：{}</translation>
        </message>
    </context>
    <context>
        <name>OptionRow</name>
        <message>
            <source>Invalid value, not used. {}</source>
            <translation>值无效，未使用。{}</translation>
        </message>
        <message>
            <source>Reset</source>
            <translation>重置</translation>
        </message>
        <message>
            <source>Reset: {}</source>
            <translation>重置：{}</translation>
        </message>
        <message>
            <source>{} Takes effect when the model is reloaded.</source>
            <translation>{}重新加载模型时生效。</translation>
        </message>
    </context>
    <context>
        <name>Page</name>
        <message>
            <source>Next</source>
            <translation>下一步</translation>
        </message>
    </context>
    <context>
        <name>PairModel</name>
        <message>
            <source>A small model that guesses ahead, so that the large one answers faster.</source>
            <translation>提前猜测的小模型，让大模型更快回答。</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>Estimated for this machine. People read about 5 tokens per second.</source>
            <translation>针对本机的估计。人每秒约读 5 个词元。</translation>
        </message>
        <message>
            <source>Estimated time to the first token after a question of 1,000 tokens.</source>
            <translation>提问为 1,000 个词元时，首个词元用时的估计值。</translation>
        </message>
        <message>
            <source>First token</source>
            <translation>首个词元</translation>
        </message>
        <message>
            <source>Format</source>
            <translation>格式</translation>
        </message>
        <message>
            <source>How the weights are stored: fewer bits make a smaller download.</source>
            <translation>权重的存储方式：位数越少，下载越小。</translation>
        </message>
        <message>
            <source>Licence</source>
            <translation>许可协议</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Runs in</source>
            <translation>运行于</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>词元/秒</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>在本机</translation>
        </message>
    </context>
    <context>
        <name>Panel</name>
        <message>
            <source>Colour the answer</source>
            <translation>为回答着色</translation>
        </message>
        <message>
            <source>Colours each token by the drafter that proposed it. Point at a token to see its alternatives.</source>
            <translation>按提出词元的起草方法为每个词元着色。指向词元可查看其他候选词元。</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Its memory is the other machine's, which does not tell it.</source>
            <translation>内存属于另一台计算机，它没有提供相关信息。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>Table</source>
            <translation>表格</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Token tree and statistics</source>
            <translation>词元树与统计数据</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>树</translation>
        </message>
        <message>
            <source>What the words mean</source>
            <translation>术语说明</translation>
        </message>
    </context>
    <context>
        <name>PassageList</name>
        <message>
            <source>Passages that the model has read</source>
            <translation>模型读过的段落</translation>
        </message>
        <message>
            <source>Read for this answer:</source>
            <translation>此回答所依据的段落：</translation>
        </message>
        <message>
            <source>Show the passage: {}</source>
            <translation>查看段落：{}</translation>
        </message>
    </context>
    <context>
        <name>PastedTexts</name>
        <message>
            <source>Pasted texts</source>
            <translation>粘贴的文本</translation>
        </message>
        <message>
            <source>Remove the pasted text</source>
            <translation>移除粘贴的文本</translation>
        </message>
        <message>
            <source>{} characters</source>
            <translation>{} 个字符</translation>
        </message>
    </context>
    <context>
        <name>Picker</name>
        <message>
            <source>Add an engine…</source>
            <translation>添加引擎…</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>删除…</translation>
        </message>
        <message>
            <source>Download models…</source>
            <translation>下载模型…</translation>
        </message>
        <message>
            <source>Find a model on this machine</source>
            <translation>在本机查找模型</translation>
        </message>
        <message>
            <source>Load the model again with the current settings</source>
            <translation>按当前设置重新加载模型</translation>
        </message>
        <message>
            <source>Look for an update…</source>
            <translation>查找更新…</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>No models yet. Download one or open a file.</source>
            <translation>还没有模型。请下载一个，或打开文件。</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>本机模型</translation>
        </message>
        <message>
            <source>Open file…</source>
            <translation>打开文件…</translation>
        </message>
        <message>
            <source>Recent</source>
            <translation>最近使用</translation>
        </message>
        <message>
            <source>Reload</source>
            <translation>重新加载</translation>
        </message>
        <message>
            <source>Remove the model from memory</source>
            <translation>从内存中移除模型</translation>
        </message>
        <message>
            <source>The model included with the program</source>
            <translation>程序自带的模型</translation>
        </message>
        <message>
            <source>Unload</source>
            <translation>卸载</translation>
        </message>
        <message>
            <source>Update or delete</source>
            <translation>更新或删除</translation>
        </message>
        <message>
            <source>Update or delete {}</source>
            <translation>更新或删除 {}</translation>
        </message>
        <message>
            <source>Use a model of another machine or service</source>
            <translation>使用其他计算机或服务的模型</translation>
        </message>
        <message>
            <source>about {} tokens/s</source>
            <translation>约 {} 词元/秒</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>草稿模型 {}</translation>
        </message>
        <message>
            <source>drafts for itself</source>
            <translation>自行起草</translation>
        </message>
        <message>
            <source>fits in RAM</source>
            <translation>内存可容纳</translation>
        </message>
        <message>
            <source>fits in VRAM</source>
            <translation>显存可容纳</translation>
        </message>
        <message>
            <source>fits in VRAM and RAM</source>
            <translation>显存和内存可容纳</translation>
        </message>
        <message>
            <source>loaded now</source>
            <translation>当前已加载</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>streamed from the disk</source>
            <translation>从磁盘流式读取</translation>
        </message>
        <message>
            <source>too large for this machine</source>
            <translation>超出本机能力</translation>
        </message>
        <message>
            <source>with the best draft model on this machine</source>
            <translation>配本机最佳草稿模型</translation>
        </message>
        <message>
            <source>{} · elsewhere, at {}</source>
            <translation>{} · 外部，位于 {}</translation>
        </message>
    </context>
    <context>
        <name>PlaceSign</name>
        <message>
            <source>Goes to {}</source>
            <translation>发送到 {}</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>本机模型</translation>
        </message>
        <message>
            <source>What you write in chats is sent to {}, which answers.</source>
            <translation>您在对话中输入的内容会发送到 {}，由其回答。</translation>
        </message>
        <message>
            <source>What you write stays on this machine.</source>
            <translation>您输入的内容保留在本机。</translation>
        </message>
    </context>
    <context>
        <name>PresetsPage</name>
        <message>
            <source>A preset named {} already exists. Replace it?</source>
            <translation>已有名为 {} 的预设。要替换吗？</translation>
        </message>
        <message>
            <source>A preset stores a chat's settings under a name, so that you can use them in other chats.</source>
            <translation>预设将对话的设置以名称保存，以便用于其他对话。</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Delete the preset {}?</source>
            <translation>要删除预设 {} 吗？</translation>
        </message>
        <message>
            <source>Export preset</source>
            <translation>导出预设</translation>
        </message>
        <message>
            <source>Exported to {}</source>
            <translation>已导出到 {}</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Import preset</source>
            <translation>导入预设</translation>
        </message>
        <message>
            <source>Import…</source>
            <translation>导入…</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <source>Replace</source>
            <translation>替换</translation>
        </message>
        <message>
            <source>Save preset</source>
            <translation>保存预设</translation>
        </message>
        <message>
            <source>Save this chat's settings…</source>
            <translation>保存此对话的设置…</translation>
        </message>
        <message>
            <source>Use for new chats</source>
            <translation>用于新对话</translation>
        </message>
        <message>
            <source>Use in this chat</source>
            <translation>用于此对话</translation>
        </message>
        <message>
            <source>{} could not be written: {}</source>
            <translation>无法写入 {}：{}</translation>
        </message>
    </context>
    <context>
        <name>ProgressView</name>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Cancel and delete</source>
            <translation>取消并删除</translation>
        </message>
        <message>
            <source>Cancel {}?</source>
            <translation>要取消 {} 吗？</translation>
        </message>
        <message>
            <source>Complete: {}</source>
            <translation>已完成：{}</translation>
        </message>
        <message>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <source>Details ({})</source>
            <translation>详情（{}）</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Not running</source>
            <translation>未运行</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>Progress of {}</source>
            <translation>{} 的进度</translation>
        </message>
        <message>
            <source>Resume</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>The {} received so far will be deleted.</source>
            <translation>已下载的 {} 会被删除。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <source>Working…</source>
            <translation>正在处理…</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
        <message>
            <source>{} left</source>
            <translation>剩余 {}</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
        <message>
            <source>{}/s</source>
            <translation>{}/秒</translation>
        </message>
    </context>
    <context>
        <name>PromptFields</name>
        <message>
            <source>Insert</source>
            <translation>插入</translation>
        </message>
        <message>
            <source>Saved prompt</source>
            <translation>已保存的提示词</translation>
        </message>
    </context>
    <context>
        <name>PromptOffer</name>
        <message>
            <source>No prompts yet. You can save some in the settings.</source>
            <translation>还没有提示词。可以在设置中保存。</translation>
        </message>
        <message>
            <source>Saved prompts</source>
            <translation>已保存的提示词</translation>
        </message>
    </context>
    <context>
        <name>PromptsPage</name>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Export all…</source>
            <translation>全部导出…</translation>
        </message>
        <message>
            <source>Export prompts</source>
            <translation>导出提示词</translation>
        </message>
        <message>
            <source>Exported to {}</source>
            <translation>已导出到 {}</translation>
        </message>
        <message>
            <source>Import prompts</source>
            <translation>导入提示词</translation>
        </message>
        <message>
            <source>Import…</source>
            <translation>导入…</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>New</source>
            <translation>新建</translation>
        </message>
        <message>
            <source>Prompts</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>Prompts imported: {}</source>
            <translation>已导入的提示词：{}</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>The prompts are as they were before.</source>
            <translation>提示词已恢复原样。</translation>
        </message>
        <message>
            <source>Translate into {{language}}:</source>
            <translation>翻译成{{language}}：</translation>
        </message>
        <message>
            <source>Type / at the beginning of a message to insert a prompt. Names between double braces, such as {{language}}, are asked for.</source>
            <translation>在消息开头输入 / 即可插入提示词。双花括号中的名称，例如 {{language}}，会询问其值。</translation>
        </message>
        <message>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <source>{} could not be written: {}</source>
            <translation>无法写入 {}：{}</translation>
        </message>
        <message>
            <source>{} was deleted.</source>
            <translation>已删除 {}。</translation>
        </message>
        <message>
            <source>{} was saved.</source>
            <translation>已保存 {}。</translation>
        </message>
    </context>
    <context>
        <name>QuestionView</name>
        <message>
            <source>Your message</source>
            <translation>您的消息</translation>
        </message>
    </context>
    <context>
        <name>RaceDialog</name>
        <message>
            <source>Open a recording</source>
            <translation>打开记录</translation>
        </message>
        <message>
            <source>Race</source>
            <translation>比赛</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>重启引擎</translation>
        </message>
        <message>
            <source>Save picture</source>
            <translation>保存图片</translation>
        </message>
        <message>
            <source>Save recording</source>
            <translation>保存记录</translation>
        </message>
        <message>
            <source>Saved as {}.</source>
            <translation>已保存为 {}。</translation>
        </message>
        <message>
            <source>The first model is being loaded back.</source>
            <translation>正在重新加载第一个模型。</translation>
        </message>
        <message>
            <source>The first model is being loaded back. {}</source>
            <translation>正在重新加载第一个模型。{}</translation>
        </message>
        <message>
            <source>The picture is in the clipboard.</source>
            <translation>图片已复制到剪贴板。</translation>
        </message>
        <message>
            <source>finished after {} s</source>
            <translation>用时 {} 秒完成</translation>
        </message>
        <message>
            <source>preparing…</source>
            <translation>正在准备…</translation>
        </message>
        <message>
            <source>reading the question…</source>
            <translation>正在读取问题…</translation>
        </message>
        <message>
            <source>running alone…</source>
            <translation>正在单独运行…</translation>
        </message>
    </context>
    <context>
        <name>RacePage</name>
        <message>
            <source>Another race…</source>
            <translation>再赛一次…</translation>
        </message>
        <message>
            <source>Copy picture</source>
            <translation>复制图片</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>Save picture…</source>
            <translation>保存图片…</translation>
        </message>
        <message>
            <source>Save recording…</source>
            <translation>保存记录…</translation>
        </message>
        <message>
            <source>Speed of the replay</source>
            <translation>回放速度</translation>
        </message>
        <message>
            <source>Stop the race</source>
            <translation>停止比赛</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>等待</translation>
        </message>
        <message>
            <source>{} of {} s</source>
            <translation>{} / {} 秒</translation>
        </message>
    </context>
    <context>
        <name>RaceRun</name>
        <message>
            <source>The race was stopped.</source>
            <translation>比赛已停止。</translation>
        </message>
    </context>
    <context>
        <name>RaceStart</name>
        <message>
            <source>A question for both answers</source>
            <translation>两个回答共用的问题</translation>
        </message>
        <message>
            <source>One question, two answers. Each runs alone, since together they would halve each other; then both are shown on one clock, from the first token of each.</source>
            <translation>一个问题，两个回答。同时运行会互相拖慢，因此先分别单独运行，再从各自的首个词元起用同一个时钟一起展示。</translation>
        </message>
        <message>
            <source>Open a recording…</source>
            <translation>打开记录…</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Race</source>
            <translation>比赛</translation>
        </message>
        <message>
            <source>Second model</source>
            <translation>第二个模型</translation>
        </message>
        <message>
            <source>SpecExec against plain decoding</source>
            <translation>SpecExec 对比普通解码</translation>
        </message>
        <message>
            <source>Start the race</source>
            <translation>开始比赛</translation>
        </message>
        <message>
            <source>The loaded model against another one:</source>
            <translation>已加载的模型对另一个模型：</translation>
        </message>
        <message>
            <source>The model cannot answer now.</source>
            <translation>模型现在无法回答。</translation>
        </message>
        <message>
            <source>Tokens of an answer, at most</source>
            <translation>每个回答最多词元数</translation>
        </message>
    </context>
    <context>
        <name>ReadyPage</name>
        <message>
            <source>Every file was verified with its published checksum. Loading takes a few seconds to a few minutes; then you can chat, even without an Internet connection.</source>
            <translation>每个文件都已与公布的校验和核对。加载需要几秒到几分钟，之后即可对话，没有网络连接也可以。</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>立即加载</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>Your model is ready</source>
            <translation>您的模型已就绪</translation>
        </message>
    </context>
    <context>
        <name>Recommended</name>
        <message>
            <source>Already on this machine</source>
            <translation>本机已有</translation>
        </message>
        <message>
            <source>Choose the recommended model, {}</source>
            <translation>选择推荐的模型，{}</translation>
        </message>
        <message>
            <source>Choose this model</source>
            <translation>选择此模型</translation>
        </message>
        <message>
            <source>Larger and slower</source>
            <translation>更大，更慢</translation>
        </message>
        <message>
            <source>Larger, later to begin</source>
            <translation>更大，开始更晚</translation>
        </message>
        <message>
            <source>Recommended for this machine</source>
            <translation>为本机推荐</translation>
        </message>
        <message>
            <source>Smaller and faster</source>
            <translation>更小，更快</translation>
        </message>
        <message>
            <source>{} to download</source>
            <translation>需下载 {}</translation>
        </message>
        <message>
            <source>{} {}, {}.</source>
            <translation>{}{}，{}。</translation>
        </message>
    </context>
    <context>
        <name>Remedies</name>
        <message>
            <source>A race compares ways of answering on this machine, not at {}.</source>
            <translation>竞速比较的是本机的回答方式，而不是 {} 的。</translation>
        </message>
        <message>
            <source>Choose another model</source>
            <translation>选择其他模型</translation>
        </message>
        <message>
            <source>Get a model</source>
            <translation>获取模型</translation>
        </message>
        <message>
            <source>Load a model on this machine, then try again.</source>
            <translation>请在本机加载模型，然后重试。</translation>
        </message>
        <message>
            <source>Set up PyTorch</source>
            <translation>安装 PyTorch</translation>
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation>此对话的设置</translation>
        </message>
        <message>
            <source>Settings of {}</source>
            <translation>{} 的设置</translation>
        </message>
        <message>
            <source>Use a model on this machine</source>
            <translation>使用本机模型</translation>
        </message>
    </context>
    <context>
        <name>Removal</name>
        <message>
            <source>Also delete its draft {}, {}</source>
            <translation>同时删除其草稿模型 {}（{}）</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Delete {}?</source>
            <translation>要删除 {} 吗？</translation>
        </message>
        <message>
            <source>It is the draft of {}, which will answer more slowly without it.</source>
            <translation>它是 {} 的草稿模型；删除后该模型回答会变慢。</translation>
        </message>
        <message>
            <source>Its draft {} stays, because {} uses it, too.</source>
            <translation>其草稿模型 {} 会保留，因为 {} 也在使用它。</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>This frees {}.</source>
            <translation>将释放 {}。</translation>
        </message>
        <message>
            <source>Unload it first, or load another model: click the model's name at the top of the chat (Ctrl+M). Then delete it.</source>
            <translation>请先卸载它，或加载另一个模型：点击对话上方的模型名称（Ctrl+M）。然后再删除。</translation>
        </message>
        <message>
            <source>{} is loaded.</source>
            <translation>{} 正在使用中。</translation>
        </message>
    </context>
    <context>
        <name>Reports</name>
        <message>
            <source>Answer complete: {}</source>
            <translation>回答已完成：{}</translation>
        </message>
        <message>
            <source>Answer not complete. {}: {}</source>
            <translation>回答未完成。{}：{}</translation>
        </message>
        <message>
            <source>Back to {}</source>
            <translation>返回 {}</translation>
        </message>
        <message>
            <source>Cancel loading</source>
            <translation>取消加载</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Connect again</source>
            <translation>重新连接</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>In “{}”: {}</source>
            <translation>在“{}”中：{}</translation>
        </message>
        <message>
            <source>It can answer about {} times as fast</source>
            <translation>回答速度可提高到约 {} 倍</translation>
        </message>
        <message>
            <source>It repeats itself</source>
            <translation>回答在重复</translation>
        </message>
        <message>
            <source>Keep it so</source>
            <translation>保持现状</translation>
        </message>
        <message>
            <source>Let it draft for itself</source>
            <translation>让它自行起草</translation>
        </message>
        <message>
            <source>Load in full again</source>
            <translation>重新完整加载</translation>
        </message>
        <message>
            <source>Loading goes on as soon as the disk does. See that it is connected, or cancel loading.</source>
            <translation>磁盘一有响应，加载就会继续。请检查磁盘是否已连接，或取消加载。</translation>
        </message>
        <message>
            <source>Memory ran out before, so the model was loaded by a smaller plan. It may answer more slowly, or remember less of a chat. Close other programs to free memory, then load it in full again.</source>
            <translation>之前内存不足，因此模型是按较小的方案加载的。回答可能更慢，或能记住的对话更少。请关闭其他程序以释放内存，然后重新完整加载。</translation>
        </message>
        <message>
            <source>Not now</source>
            <translation>以后再说</translation>
        </message>
        <message>
            <source>Open log</source>
            <translation>打开日志</translation>
        </message>
        <message>
            <source>Reload</source>
            <translation>重新加载</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>重启引擎</translation>
        </message>
        <message>
            <source>Restart with the safer plan</source>
            <translation>以更安全的方案重新启动</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Stop here</source>
            <translation>到此为止</translation>
        </message>
        <message>
            <source>The answer goes on as soon as the disk does. See that it is connected, or stop the answer: the text so far stays.</source>
            <translation>磁盘一有响应，回答就会继续。请检查磁盘是否已连接，或停止回答：已有的文字会保留。</translation>
        </message>
        <message>
            <source>The answer says the same over and over, so it was stopped. “DRY penalty”, in this chat's settings, makes that less likely.</source>
            <translation>回答不断重复相同的内容，因此已停止。调高此对话设置中的“DRY 惩罚”可以减少这种情况。</translation>
        </message>
        <message>
            <source>The disk with the model does not answer</source>
            <translation>存放模型的磁盘没有响应</translation>
        </message>
        <message>
            <source>The model runs with less memory now</source>
            <translation>模型现在以较少的内存运行</translation>
        </message>
        <message>
            <source>This model is read from the disk again and again. It can draft for itself: a copy in fewer bits is made once, which takes {} of the disk.</source>
            <translation>此模型需要不断从磁盘读取。它可以为自己起草：只需制作一次位数更少的副本，占用磁盘空间 {}。</translation>
        </message>
        <message>
            <source>This model is read from the disk again and again. It can draft for itself: the copy in fewer bits that it needs is on the disk already.</source>
            <translation>此模型需要不断从磁盘读取。它可以为自己起草：所需的位数更少的副本已在磁盘上。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
    </context>
    <context>
        <name>RepositoryView</name>
        <message>
            <source>A draft is optional. Without one, the model answers more slowly.</source>
            <translation>草稿模型可选。没有草稿模型时，模型回答得更慢。</translation>
        </message>
        <message>
            <source>Checking whether {} fits…</source>
            <translation>正在检查 {} 是否匹配…</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>Formats of this model</source>
            <translation>此模型的格式</translation>
        </message>
        <message>
            <source>No draft</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>No draft is known for this model. It works without one, only more slowly.</source>
            <translation>没有已知的适用于此模型的草稿模型。没有它也能运行，只是更慢。</translation>
        </message>
        <message>
            <source>The draft could not be checked: {}</source>
            <translation>无法检查草稿模型：{}</translation>
        </message>
        <message>
            <source>There is no estimate for this pair. Its speed is measured once it is loaded.</source>
            <translation>此组合没有估计值。加载后会测量其速度。</translation>
        </message>
        <message>
            <source>account required</source>
            <translation>需要账号</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>在本机</translation>
        </message>
        <message>
            <source>original format</source>
            <translation>原始格式</translation>
        </message>
    </context>
    <context>
        <name>ResetButton</name>
        <message>
            <source>Undo the reset</source>
            <translation>撤销重置</translation>
        </message>
    </context>
    <context>
        <name>RestOfQuestion</name>
        <message>
            <source>Show more</source>
            <translation>显示更多</translation>
        </message>
        <message>
            <source>Show more of the message</source>
            <translation>显示消息的更多内容</translation>
        </message>
        <message>
            <source>The first {} of {} characters are shown; all were sent.</source>
            <translation>仅显示前 {} 个字符（共 {} 个），已全部发送。</translation>
        </message>
    </context>
    <context>
        <name>RunPage</name>
        <message>
            <source>Copy table</source>
            <translation>复制表格</translation>
        </message>
        <message>
            <source>Drafted tokens in the tree</source>
            <translation>树中的草稿词元</translation>
        </message>
        <message>
            <source>Drafted tokens that the target accepted</source>
            <translation>目标模型接受的草稿词元</translation>
        </message>
        <message>
            <source>Iterations of the answer</source>
            <translation>回答的各轮迭代</translation>
        </message>
        <message>
            <source>Run as JSON…</source>
            <translation>运行记录存为 JSON…</translation>
        </message>
        <message>
            <source>Seconds that the target waited for streamed weights</source>
            <translation>目标模型等待流式权重的秒数</translation>
        </message>
        <message>
            <source>Tree as PNG…</source>
            <translation>树存为 PNG…</translation>
        </message>
        <message>
            <source>Tree as SVG…</source>
            <translation>树存为 SVG…</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>接受</translation>
        </message>
        <message>
            <source>iteration</source>
            <translation>迭代</translation>
        </message>
        <message>
            <source>nodes</source>
            <translation>节点</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>waiting, s</source>
            <translation>等待，秒</translation>
        </message>
    </context>
    <context>
        <name>SearchPalette</name>
        <message>
            <source>No results for “{}”.

A message must contain all words. The beginning of a word is enough.</source>
            <translation>没有“{}”的搜索结果。

消息必须包含所有的词。只输入词的开头即可。</translation>
        </message>
        <message>
            <source>Results</source>
            <translation>搜索结果</translation>
        </message>
        <message>
            <source>Search all chats</source>
            <translation>搜索所有对话</translation>
        </message>
        <message>
            <source>The arrow keys move through the results; Enter opens the selected one.</source>
            <translation>用方向键在结果间移动，按 Enter 打开所选结果。</translation>
        </message>
        <message>
            <source>↑ ↓ Select     Enter Open     Esc Close</source>
            <translation>↑ ↓ 选择     Enter 打开     Esc 关闭</translation>
        </message>
    </context>
    <context>
        <name>SearchResults</name>
        <message>
            <source>Chats</source>
            <translation>对话</translation>
        </message>
        <message>
            <source>Messages</source>
            <translation>消息</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Recent</source>
            <translation>最近使用</translation>
        </message>
        <message>
            <source>You</source>
            <translation>您</translation>
        </message>
    </context>
    <context>
        <name>ServerCard</name>
        <message>
            <source>Address</source>
            <translation>地址</translation>
        </message>
        <message>
            <source>Changes apply once the server is started again.</source>
            <translation>重新启动服务器后更改才会生效。</translation>
        </message>
        <message>
            <source>Ending…</source>
            <translation>正在结束…</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>密钥</translation>
        </message>
        <message>
            <source>Lets editors, agents and scripts use the model that is loaded here, through OpenAI's and Anthropic's interfaces. It ends with the window.</source>
            <translation>让编辑器、代理和脚本通过 OpenAI 和 Anthropic 的接口使用此处加载的模型。窗口关闭时它也会结束。</translation>
        </message>
        <message>
            <source>Local server</source>
            <translation>本地服务器</translation>
        </message>
        <message>
            <source>Make another key; the present one ends</source>
            <translation>生成另一个密钥；当前密钥失效</translation>
        </message>
        <message>
            <source>New key</source>
            <translation>新密钥</translation>
        </message>
        <message>
            <source>Open log</source>
            <translation>打开日志</translation>
        </message>
        <message>
            <source>Restart the server</source>
            <translation>重新启动服务器</translation>
        </message>
        <message>
            <source>Start again</source>
            <translation>重新启动</translation>
        </message>
        <message>
            <source>Starting… Requests are answered once the model is loaded.</source>
            <translation>正在启动… 模型加载后即可回答请求。</translation>
        </message>
        <message>
            <source>Starting… Waiting for the key from the system's keyring.</source>
            <translation>正在启动… 正在等待系统密钥环提供密钥。</translation>
        </message>
        <message>
            <source>This system has no keyring, or it stays locked: the key is kept in a file that only you can read.</source>
            <translation>本系统没有密钥环，或密钥环仍处于锁定状态：密钥保存在只有您能读取的文件中。</translation>
        </message>
        <message>
            <source>○ Off</source>
            <translation>○ 关闭</translation>
        </message>
        <message>
            <source>● Running. Requests answered: {}</source>
            <translation>● 正在运行。已回答的请求：{}</translation>
        </message>
        <message>
            <source>✕ Not running</source>
            <translation>✕ 未运行</translation>
        </message>
    </context>
    <context>
        <name>ServerPage</name>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Copy the example, with the key</source>
            <translation>复制示例（含密钥）</translation>
        </message>
        <message>
            <source>Example</source>
            <translation>示例</translation>
        </message>
    </context>
    <context>
        <name>ServerSign</name>
        <message>
            <source>The local server runs at {}</source>
            <translation>本地服务器正在 {} 运行</translation>
        </message>
    </context>
    <context>
        <name>SettingsDialog</name>
        <message>
            <source>About</source>
            <translation>关于</translation>
        </message>
        <message>
            <source>Appearance</source>
            <translation>外观</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>引擎</translation>
        </message>
        <message>
            <source>Engines elsewhere</source>
            <translation>外部引擎</translation>
        </message>
        <message>
            <source>For models on this machine. The engine at {} decides how it loads its own.</source>
            <translation>仅适用于本机模型。{} 的引擎自行决定如何加载其模型。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>New chats</source>
            <translation>新对话</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <source>Prompts</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>Reload the model</source>
            <translation>重新加载模型</translation>
        </message>
        <message>
            <source>Reset all</source>
            <translation>全部重置</translation>
        </message>
        <message>
            <source>Reset all to the settings for new chats</source>
            <translation>全部重置为新对话的设置</translation>
        </message>
        <message>
            <source>Server</source>
            <translation>服务器</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>The engine at {} decides this.</source>
            <translation>由 {} 的引擎决定。</translation>
        </message>
        <message>
            <source>This chat</source>
            <translation>此对话</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>工具</translation>
        </message>
    </context>
    <context>
        <name>SetupPage</name>
        <message>
            <source>A graphics card, and models that the built-in engine does not cover, need PyTorch. The version that suits this machine is downloaded once. You can chat in the meantime.</source>
            <translation>显卡以及内置引擎不支持的模型需要 PyTorch。适合本机的版本只下载一次，期间可以聊天。</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>引擎</translation>
        </message>
        <message>
            <source>Set up</source>
            <translation>安装</translation>
        </message>
        <message>
            <source>Set up ({})</source>
            <translation>安装（{}）</translation>
        </message>
        <message>
            <source>Set up the engine</source>
            <translation>安装引擎</translation>
        </message>
        <message>
            <source>Setting up…</source>
            <translation>正在安装…</translation>
        </message>
        <message>
            <source>The engine is ready. Close this window to go on chatting, or choose a larger model.</source>
            <translation>引擎已就绪。关闭此窗口继续聊天，或选择更大的模型。</translation>
        </message>
    </context>
    <context>
        <name>SetupView</name>
        <message>
            <source>All files (*)</source>
            <translation>所有文件 (*)</translation>
        </message>
        <message>
            <source>From a file…</source>
            <translation>从文件…</translation>
        </message>
        <message>
            <source>Mirror and proxy</source>
            <translation>镜像和代理</translation>
        </message>
        <message>
            <source>Not enough disk space: {} needed, {} free. Free up some space first.</source>
            <translation>磁盘空间不足：需要 {}，可用 {}。请先腾出空间。</translation>
        </message>
        <message>
            <source>Runtime file, or the first of its parts</source>
            <translation>运行时文件，或其第一个分卷</translation>
        </message>
        <message>
            <source>Runtime files (*.zip *.zip.001)</source>
            <translation>运行时文件 (*.zip *.zip.001)</translation>
        </message>
        <message>
            <source>Set up from a runtime file, without a network connection</source>
            <translation>从运行时文件安装，无需网络连接</translation>
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>Open folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <source>Saved as {}</source>
            <translation>已保存为 {}</translation>
        </message>
        <message>
            <source>Your chats will be listed here.

You can import chats from ChatGPT in the menu “⋯” above.</source>
            <translation>您的对话会列在这里。

您可以在上方的“⋯”菜单中导入 ChatGPT 的对话。</translation>
        </message>
    </context>
    <context>
        <name>SidebarHeader</name>
        <message>
            <source>Bring back chats from a backup…</source>
            <translation>从备份找回对话…</translation>
        </message>
        <message>
            <source>Export all chats…</source>
            <translation>导出所有对话…</translation>
        </message>
        <message>
            <source>Folders, import, export, keyboard shortcuts, logs</source>
            <translation>文件夹、导入、导出、键盘快捷键、日志</translation>
        </message>
        <message>
            <source>Import chats…</source>
            <translation>导入对话…</translation>
        </message>
        <message>
            <source>Keyboard shortcuts…</source>
            <translation>键盘快捷键…</translation>
        </message>
        <message>
            <source>More</source>
            <translation>更多</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>新对话</translation>
        </message>
        <message>
            <source>New chat (Ctrl+N)</source>
            <translation>新对话 (Ctrl+N)</translation>
        </message>
        <message>
            <source>New folder</source>
            <translation>新建文件夹</translation>
        </message>
        <message>
            <source>Open log folder</source>
            <translation>打开日志文件夹</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>Search all chats (Ctrl+K)</source>
            <translation>搜索所有对话 (Ctrl+K)</translation>
        </message>
    </context>
    <context>
        <name>SourcesView</name>
        <message>
            <source>An address must start with {}.</source>
            <translation>地址必须以 {} 开头。</translation>
        </message>
        <message>
            <source>Every package is verified with a checksum from this program, whatever its source.</source>
            <translation>无论软件包来自何处，都会用本程序自带的校验和进行校验。</translation>
        </message>
        <message>
            <source>Package index mirror</source>
            <translation>软件包索引镜像</translation>
        </message>
        <message>
            <source>Proxy</source>
            <translation>代理</translation>
        </message>
        <message>
            <source>PyTorch index mirror</source>
            <translation>PyTorch 索引镜像</translation>
        </message>
        <message>
            <source>{}: “{}” is not a valid address.</source>
            <translation>{}：“{}”不是有效的地址。</translation>
        </message>
    </context>
    <context>
        <name>SpeedPage</name>
        <message>
            <source>Answers one question twice and shows both answers on one clock</source>
            <translation>对同一个问题回答两次，并用同一个时钟展示两个回答</translation>
        </message>
        <message>
            <source>Generates a short answer ({} tokens) without a drafter, as a reference. The result is kept.</source>
            <translation>不用起草方法生成一个简短的回答（{} 个词元），作为参照。结果会保存。</translation>
        </message>
        <message>
            <source>Measure plain decoding</source>
            <translation>测量普通解码</translation>
        </message>
        <message>
            <source>Measuring plain decoding…</source>
            <translation>正在测量普通解码…</translation>
        </message>
        <message>
            <source>Race against plain decoding…</source>
            <translation>与普通解码比赛…</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>When an answer is complete, this page explains its speed.</source>
            <translation>回答完成后，此页会说明其速度的原因。</translation>
        </message>
    </context>
    <context>
        <name>SpeedPlot</name>
        <message>
            <source>Tokens per second over time</source>
            <translation>每秒词元数随时间的变化</translation>
        </message>
        <message>
            <source>last 30 s</source>
            <translation>最近 30 秒</translation>
        </message>
        <message>
            <source>now {} tokens/s, average {} tokens/s</source>
            <translation>当前 {} 词元/秒，平均 {} 词元/秒</translation>
        </message>
        <message>
            <source>whole answer</source>
            <translation>整个回答</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
    </context>
    <context>
        <name>SplitBar</name>
        <message>
            <source>Time by phase</source>
            <translation>各阶段用时</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>draft: proposing the token tree
target: computing the target's pass, which verifies the tree
waiting: the target waits for streamed weights
other: everything else</source>
            <translation>草稿模型：提出词元树
目标模型：计算目标模型的一遍，用于验证词元树
等待：目标模型等待流式权重
其他：其余所有用时</translation>
        </message>
        <message>
            <source>other</source>
            <translation>其他</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标模型</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>等待</translation>
        </message>
    </context>
    <context>
        <name>StatsPanel</name>
        <message>
            <source>Seconds from the request to the first token. In this time, the model reads the prompt.</source>
            <translation>从发出请求到首个词元的秒数。在此期间，模型读取提示词。</translation>
        </message>
        <message>
            <source>The drafter is the method that proposes tokens; the budget is the maximum number of tokens in one tree of proposals.</source>
            <translation>起草方法是提出词元的方法；预算是一棵词元树的最大词元数。</translation>
        </message>
        <message>
            <source>Tokens generated per second. A token is a word or a part of a word.</source>
            <translation>每秒生成的词元数。一个词元是一个词或词的一部分。</translation>
        </message>
        <message>
            <source>Tokens that one pass of the target model adds to the answer, on average. Without speculative decoding, it is 1.</source>
            <translation>目标模型每一遍为回答增加的平均词元数。不用推测解码时为 1。</translation>
        </message>
        <message>
            <source>answered by {}</source>
            <translation>由 {} 回答</translation>
        </message>
        <message>
            <source>drafter: {}</source>
            <translation>起草方法：{}</translation>
        </message>
        <message>
            <source>drafter: {}, budget: {}</source>
            <translation>起草方法：{}，预算：{}</translation>
        </message>
        <message>
            <source>s to first token</source>
            <translation>首个词元用时（秒）</translation>
        </message>
        <message>
            <source>tokens per pass</source>
            <translation>每遍词元数</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>词元/秒</translation>
        </message>
    </context>
    <context>
        <name>StatusLine</name>
        <message>
            <source>Answering</source>
            <translation>正在回答</translation>
        </message>
        <message>
            <source>Answering {}</source>
            <translation>正在回答 {}</translation>
        </message>
        <message>
            <source>Answering…</source>
            <translation>正在回答…</translation>
        </message>
        <message>
            <source>Loading the model…</source>
            <translation>正在加载模型…</translation>
        </message>
        <message>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <source>Reading the prompt: {} of {} tokens ({}%)</source>
            <translation>正在读取提示词：{} / {} 词元 ({}%)</translation>
        </message>
        <message>
            <source>Reading the prompt…</source>
            <translation>正在读取提示词…</translation>
        </message>
        <message>
            <source>Starting the engine…</source>
            <translation>正在启动引擎…</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Stopping…</source>
            <translation>正在停止…</translation>
        </message>
        <message>
            <source>The disk has not answered for {} s</source>
            <translation>磁盘已有 {} 秒没有响应</translation>
        </message>
        <message>
            <source>Waiting for {}</source>
            <translation>正在等待 {}</translation>
        </message>
        <message>
            <source>another program</source>
            <translation>另一个程序</translation>
        </message>
        <message>
            <source>at most {} left</source>
            <translation>最多还需 {}</translation>
        </message>
        <message>
            <source>checking the guesses: {}%</source>
            <translation>正在核对猜测：{}%</translation>
        </message>
        <message>
            <source>guessing ahead</source>
            <translation>正在预先猜测</translation>
        </message>
        <message>
            <source>probably about {} left</source>
            <translation>大概还需约 {}</translation>
        </message>
        <message>
            <source>{} h {} min</source>
            <translation>{} 小时 {} 分钟</translation>
        </message>
        <message>
            <source>{} min</source>
            <translation>{} 分钟</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
        <message>
            <source>{} tokens/s</source>
            <translation>{} 词元/秒</translation>
        </message>
        <message>
            <source>○ Unloaded (idle)</source>
            <translation>○ 已卸载（空闲）</translation>
        </message>
        <message>
            <source>● Ready</source>
            <translation>● 就绪</translation>
        </message>
        <message>
            <source>✕ No model loaded</source>
            <translation>✕ 未加载模型</translation>
        </message>
        <message>
            <source>✕ The engine has stopped</source>
            <translation>✕ 引擎已停止</translation>
        </message>
    </context>
    <context>
        <name>Stepper</name>
        <message>
            <source>Fit the whole tree (0)</source>
            <translation>显示整棵树 (0)</translation>
        </message>
        <message>
            <source>Iteration</source>
            <translation>迭代</translation>
        </message>
        <message>
            <source>Iterations of the answer; at the right end, the newest one is shown</source>
            <translation>回答的各次迭代；在最右端显示最新的一次</translation>
        </message>
        <message>
            <source>Next iteration (Ctrl+Alt+Right)</source>
            <translation>下一轮迭代（Ctrl+Alt+右）</translation>
        </message>
        <message>
            <source>Pause at this iteration (Alt+P)</source>
            <translation>在此轮迭代暂停 (Alt+P)</translation>
        </message>
        <message>
            <source>Previous iteration (Ctrl+Alt+Left)</source>
            <translation>上一轮迭代（Ctrl+Alt+左）</translation>
        </message>
        <message>
            <source>Zoom in (+)</source>
            <translation>放大 (+)</translation>
        </message>
        <message>
            <source>Zoom out (−)</source>
            <translation>缩小 (−)</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
    </context>
    <context>
        <name>Steps</name>
        <message>
            <source>Step {} of {}: {}</source>
            <translation>第 {} / {} 步：{}</translation>
        </message>
    </context>
    <context>
        <name>TextBody</name>
        <message>
            <source>Copy code</source>
            <translation>复制代码</translation>
        </message>
        <message>
            <source>Formulas: {}</source>
            <translation>公式：{}</translation>
        </message>
    </context>
    <context>
        <name>ThoughtChip</name>
        <message>
            <source>Change how long the model thinks</source>
            <translation>更改模型思考的长短</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>思考</translation>
        </message>
        <message>
            <source>Thinking: {}</source>
            <translation>思考：{}</translation>
        </message>
        <message>
            <source>{}, at most {} tokens</source>
            <translation>{}，最多 {} 个词元</translation>
        </message>
    </context>
    <context>
        <name>ThoughtPopup</name>
        <message>
            <source>At its limit, the thought is closed and the answer begins.</source>
            <translation>达到上限时，思考结束，回答开始。</translation>
        </message>
        <message>
            <source>At most</source>
            <translation>最多</translation>
        </message>
        <message>
            <source>No limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>Think before answering</source>
            <translation>回答前先思考</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>思考</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>词元</translation>
        </message>
    </context>
    <context>
        <name>ThoughtView</name>
        <message>
            <source>Answer now</source>
            <translation>立即回答</translation>
        </message>
        <message>
            <source>End the thought and answer now</source>
            <translation>结束思考并立即回答</translation>
        </message>
        <message>
            <source>Hide the thought</source>
            <translation>隐藏思考</translation>
        </message>
        <message>
            <source>Show the thought</source>
            <translation>显示思考</translation>
        </message>
        <message>
            <source>Thinking…</source>
            <translation>正在思考…</translation>
        </message>
        <message>
            <source>Thought</source>
            <translation>思考</translation>
        </message>
        <message>
            <source>collapsed</source>
            <translation>已折叠</translation>
        </message>
        <message>
            <source>expanded</source>
            <translation>已展开</translation>
        </message>
        <message>
            <source>{} tokens</source>
            <translation>{} 个词元</translation>
        </message>
    </context>
    <context>
        <name>TimePage</name>
        <message>
            <source>Accepted nodes per iteration</source>
            <translation>每轮迭代接受的节点数</translation>
        </message>
        <message>
            <source>All weights are in memory; nothing is streamed.</source>
            <translation>所有权重都在内存中；无需流式读取。</translation>
        </message>
        <message>
            <source>How often the target accepted 0, 1, 2 or more drafted tokens in one iteration.</source>
            <translation>目标模型在一轮迭代中接受 0、1、2 个或更多草稿词元的次数。</translation>
        </message>
        <message>
            <source>Layers of the current pass</source>
            <translation>当前一遍的各层</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>每轮迭代的秒数</translation>
        </message>
        <message>
            <source>The target verifies the tree layer by layer.</source>
            <translation>目标模型逐层验证这棵树。</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>词元/秒</translation>
        </message>
        <message>
            <source>Weights that do not fit in the memory of the compute device are streamed in every pass.</source>
            <translation>计算设备内存容纳不下的权重，会在每一遍中流式载入。</translation>
        </message>
    </context>
    <context>
        <name>ToolList</name>
        <message>
            <source>Tools; a tick: may be called without asking</source>
            <translation>工具；勾选：无需询问即可调用</translation>
        </message>
    </context>
    <context>
        <name>ToolServerEditor</name>
        <message>
            <source>A command runs with your rights, as any program that you start: add only servers that you trust. It gets none of your environment variables but those it needs to start, and those you write here. An address receives what its tools are called with. Its key is stored in this system's keyring, and is sent only there.</source>
            <translation>命令以您的权限运行，如同您启动的任何程序：请只添加您信任的服务器。它只得到启动所需的环境变量和您在此填写的变量。地址形式的服务器会收到调用其工具的参数。其密钥保存在本系统的密钥环中，且只发送到该处。</translation>
        </message>
        <message>
            <source>A program and its arguments</source>
            <translation>程序及其参数</translation>
        </message>
        <message>
            <source>Add a tool server</source>
            <translation>添加工具服务器</translation>
        </message>
        <message>
            <source>Answers may call these tools, after asking you</source>
            <translation>回答可在询问您之后调用这些工具</translation>
        </message>
        <message>
            <source>Asking for its tools…</source>
            <translation>正在询问其工具…</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Connect and list its tools</source>
            <translation>连接并列出其工具</translation>
        </message>
        <message>
            <source>How you want to call it</source>
            <translation>您想使用的名称</translation>
        </message>
        <message>
            <source>It offers no tools that can be used.</source>
            <translation>它没有可用的工具。</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>密钥</translation>
        </message>
        <message>
            <source>Look at what it offers. Tick what may be called without asking:</source>
            <translation>请查看它提供的工具。勾选无需询问即可调用的：</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>None, if it asks for none</source>
            <translation>如不需要则留空</translation>
        </message>
        <message>
            <source>One NAME=value per line</source>
            <translation>每行一个 NAME=value</translation>
        </message>
        <message>
            <source>Or address</source>
            <translation>或地址</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Unchanged</source>
            <translation>保持不变</translation>
        </message>
        <message>
            <source>Variables</source>
            <translation>变量</translation>
        </message>
    </context>
    <context>
        <name>ToolsChip</name>
        <message>
            <source>Answers in this chat may call: {}</source>
            <translation>此聊天中的回答可以调用：{}</translation>
        </message>
        <message>
            <source>Let answers call: {}</source>
            <translation>允许回答调用：{}</translation>
        </message>
        <message>
            <source>Tools: off</source>
            <translation>工具：关</translation>
        </message>
        <message>
            <source>Tools: {}</source>
            <translation>工具：{}</translation>
        </message>
    </context>
    <context>
        <name>ToolsPage</name>
        <message>
            <source>Add a tool server…</source>
            <translation>添加工具服务器…</translation>
        </message>
        <message>
            <source>Another server has this name.</source>
            <translation>另一个服务器已使用此名称。</translation>
        </message>
        <message>
            <source>Answers may call the program's own tools</source>
            <translation>回答可以调用程序自带的工具</translation>
        </message>
        <message>
            <source>Calculates the value of an expression, such as (2 + 3) * sqrt(7).</source>
            <translation>计算表达式的值，例如 (2 + 3) * sqrt(7)。</translation>
        </message>
        <message>
            <source>Calls for one question, at most</source>
            <translation>每个问题最多调用次数</translation>
        </message>
        <message>
            <source>Change the tool server</source>
            <translation>更改工具服务器</translation>
        </message>
        <message>
            <source>Change…</source>
            <translation>更改…</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Remove the tool server</source>
            <translation>移除工具服务器</translation>
        </message>
        <message>
            <source>Searches your chats for messages that contain all of some words.</source>
            <translation>在您的对话中搜索包含所有给定词语的消息。</translation>
        </message>
        <message>
            <source>Tells the date, the weekday and the time.</source>
            <translation>告知日期、星期和时间。</translation>
        </message>
        <message>
            <source>This system has no keyring: the key is kept in memory until the program ends.</source>
            <translation>本系统没有密钥环：密钥保存在内存中，直到程序结束。</translation>
        </message>
        <message>
            <source>Tool servers</source>
            <translation>工具服务器</translation>
        </message>
        <message>
            <source>Tool servers (MCP)</source>
            <translation>工具服务器 (MCP)</translation>
        </message>
        <message>
            <source>With tools, an answer can calculate, look something up or act. Each call is shown with its arguments, and you are asked before it is made, unless the tool is ticked. What a tool answers is not checked: it may be wrong or try to mislead.</source>
            <translation>有了工具，回答可以计算、查找或执行操作。每次调用都会连同参数一起显示；除非已勾选该工具，否则调用前会询问您。工具的回答未经核实：可能有误，也可能试图误导。</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>on</source>
            <translation>开</translation>
        </message>
    </context>
    <context>
        <name>Transcript</name>
        <message>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <source>Earlier messages</source>
            <translation>更早的消息</translation>
        </message>
        <message>
            <source>Jump to the end</source>
            <translation>跳到末尾</translation>
        </message>
        <message>
            <source>↓ Jump to the end</source>
            <translation>↓ 跳到末尾</translation>
        </message>
    </context>
    <context>
        <name>Tray</name>
        <message>
            <source>Answer complete</source>
            <translation>回答已完成</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>Show window</source>
            <translation>显示窗口</translation>
        </message>
    </context>
    <context>
        <name>TreeLegend</name>
        <message>
            <source>Each node of the tree is a token that a drafter has proposed. One pass of the target verifies all nodes: it accepts one path, rejects the others and adds a bonus token of its own.</source>
            <translation>树的每个节点都是起草方法提出的一个词元。目标模型用一遍验证所有节点：接受一条路径，拒绝其余节点，并添加一个自己的奖励词元。</translation>
        </message>
        <message>
            <source>Legend of the token tree</source>
            <translation>词元树图例</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>接受</translation>
        </message>
        <message>
            <source>bonus token</source>
            <translation>奖励词元</translation>
        </message>
        <message>
            <source>drafted</source>
            <translation>已起草</translation>
        </message>
        <message>
            <source>drafted during the pass before</source>
            <translation>上一遍期间起草</translation>
        </message>
        <message>
            <source>rejected</source>
            <translation>已拒绝</translation>
        </message>
    </context>
    <context>
        <name>TreePage</name>
        <message>
            <source>Added to the answer: “{}”</source>
            <translation>已添加到回答：“{}”</translation>
        </message>
        <message>
            <source>Iteration {}: {} drafted</source>
            <translation>第 {} 轮迭代：起草 {} 个</translation>
        </message>
        <message>
            <source>Iteration {}: {} of {} accepted</source>
            <translation>第 {} 轮迭代：接受 {} / {}</translation>
        </message>
        <message>
            <source>Point at a token or select one with the arrow keys.</source>
            <translation>指向一个词元，或用方向键选择。</translation>
        </message>
        <message>
            <source>Token tree</source>
            <translation>词元树</translation>
        </message>
        <message>
            <source>showing {} of {}</source>
            <translation>显示 {} / {}</translation>
        </message>
    </context>
    <context>
        <name>TreeView</name>
        <message>
            <source>The token tree appears here while the model answers.</source>
            <translation>模型回答时，词元树会显示在这里。</translation>
        </message>
        <message>
            <source>Token tree</source>
            <translation>词元树</translation>
        </message>
    </context>
    <context>
        <name>UpdateBox</name>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Looking for an update of {}…</source>
            <translation>正在查找 {} 的更新…</translation>
        </message>
        <message>
            <source>Not now</source>
            <translation>以后再说</translation>
        </message>
        <message>
            <source>There is an update of {}.</source>
            <translation>{} 有可用的更新。</translation>
        </message>
        <message>
            <source>Update</source>
            <translation>更新</translation>
        </message>
        <message>
            <source>{} is up to date.</source>
            <translation>{} 已是最新。</translation>
        </message>
        <message>
            <source>{} to download. The new files replace the old ones once all are complete and verified.</source>
            <translation>需下载 {}。全部新文件下载完整并通过校验后，才会替换旧文件。</translation>
        </message>
    </context>
    <context>
        <name>UpdateNews</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>It opens the next time you start the program.</source>
            <translation>将在您下次启动程序时打开。</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>The version before it was started again. Your chats and settings are unchanged.</source>
            <translation>已重新启动之前的版本。您的对话和设置没有变化。</translation>
        </message>
        <message>
            <source>There is no newer version.</source>
            <translation>没有更新的版本。</translation>
        </message>
        <message>
            <source>This copy was installed for all users, or where the program cannot change it. Update it as you installed it, for example with your system's package manager.</source>
            <translation>此程序是为所有用户安装的，或位于程序无法更改的位置。请按安装时的方式更新，例如使用系统的软件包管理器。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <source>Update</source>
            <translation>更新</translation>
        </message>
        <message>
            <source>Version {} did not open its window.</source>
            <translation>版本 {} 未能打开窗口。</translation>
        </message>
        <message>
            <source>Version {} is available.</source>
            <translation>版本 {} 可用。</translation>
        </message>
        <message>
            <source>Version {} is being downloaded.</source>
            <translation>正在下载版本 {}。</translation>
        </message>
        <message>
            <source>Version {} is ready.</source>
            <translation>版本 {} 已就绪。</translation>
        </message>
        <message>
            <source>What is new</source>
            <translation>新增内容</translation>
        </message>
        <message>
            <source>{0} of {1}. You can close this box and go on.</source>
            <translation>{1} 中的 {0}。您可以关闭此窗口并继续。</translation>
        </message>
        <message>
            <source>{} are downloaded while you chat. The new version opens the next time you start the program. If it does not, the version you have now opens again.</source>
            <translation>在您对话时下载 {}。下次启动程序时将打开新版本；如果无法打开，则重新打开您现在的版本。</translation>
        </message>
    </context>
    <context>
        <name>UpdateNotice</name>
        <message>
            <source>A newer version of this program. Click to read about it.</source>
            <translation>本程序的新版本。点击查看详情。</translation>
        </message>
        <message>
            <source>Newer version: {}</source>
            <translation>新版本：{}</translation>
        </message>
        <message>
            <source>Version {0}: {1}</source>
            <translation>版本 {0}：{1}</translation>
        </message>
        <message>
            <source>Version {}</source>
            <translation>版本 {}</translation>
        </message>
        <message>
            <source>Version {} failed</source>
            <translation>版本 {} 失败</translation>
        </message>
        <message>
            <source>Version {} is ready</source>
            <translation>版本 {} 已就绪</translation>
        </message>
    </context>
    <context>
        <name>UsedHere</name>
        <message>
            <source>Load</source>
            <translation>加载</translation>
        </message>
        <message>
            <source>Load {}</source>
            <translation>加载 {}</translation>
        </message>
        <message>
            <source>This chat was answered by {}.</source>
            <translation>此对话由 {} 回答。</translation>
        </message>
    </context>
    <context>
        <name>VersionSwitch</name>
        <message>
            <source>Next version</source>
            <translation>下一版本</translation>
        </message>
        <message>
            <source>Previous version</source>
            <translation>上一版本</translation>
        </message>
        <message>
            <source>Version {} of {}</source>
            <translation>版本 {} / {}</translation>
        </message>
    </context>
    <context>
        <name>WaitingList</name>
        <message>
            <source>Next in “{}”: {}</source>
            <translation>“{}”中的下一个问题：{}</translation>
        </message>
        <message>
            <source>Next: {}</source>
            <translation>接下来：{}</translation>
        </message>
        <message>
            <source>Queued questions</source>
            <translation>排队中的问题</translation>
        </message>
        <message>
            <source>Take back into the input field</source>
            <translation>放回输入框</translation>
        </message>
    </context>
    <context>
        <name>WherePage</name>
        <message>
            <source>Change folder…</source>
            <translation>更改文件夹…</translation>
        </message>
        <message>
            <source>Contacting Hugging Face…</source>
            <translation>正在连接 Hugging Face…</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Folder</source>
            <translation>文件夹</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>立即加载</translation>
        </message>
        <message>
            <source>Move models</source>
            <translation>移动模型</translation>
        </message>
        <message>
            <source>Not enough disk space: {} needed, {} free. Free up some space and return to this page, choose a folder on another disk, or choose a smaller model.</source>
            <translation>磁盘空间不足：需要 {}，可用 {}。请腾出空间后回到此页，或选择其他磁盘上的文件夹，或选择更小的模型。</translation>
        </message>
        <message>
            <source>This disk may be slow. Models run best from an SSD inside this machine.</source>
            <translation>此磁盘可能较慢。模型放在本机内部的 SSD 上运行效果最好。</translation>
        </message>
        <message>
            <source>To be downloaded</source>
            <translation>将要下载</translation>
        </message>
        <message>
            <source>Where to store the model</source>
            <translation>模型的存放位置</translation>
        </message>
        <message>
            <source>Your existing models ({}) will be moved to {}.</source>
            <translation>您已有的模型（{}）将移到 {}。</translation>
        </message>
        <message>
            <source>{} needed, {} free.</source>
            <translation>需要 {}，可用 {}。</translation>
        </message>
        <message>
            <source>{} · asking Hugging Face for its size…</source>
            <translation>{} · 正在向 Hugging Face 查询其大小…</translation>
        </message>
    </context>
    <context>
        <name>Window</name>
        <message>
            <source>Copied the last answer</source>
            <translation>已复制最后一个回答</translation>
        </message>
        <message>
            <source>Deleted 1 message</source>
            <translation>已删除 1 条消息</translation>
        </message>
        <message>
            <source>Deleted {} messages</source>
            <translation>已删除 {} 条消息</translation>
        </message>
    </context>
    <context>
        <name>Wizard</name>
        <message>
            <source>Back</source>
            <translation>上一步</translation>
        </message>
        <message>
            <source>Get a model: {}</source>
            <translation>获取模型：{}</translation>
        </message>
        <message>
            <source>Get another model</source>
            <translation>获取其他模型</translation>
        </message>
        <message>
            <source>Set up: {}</source>
            <translation>安装：{}</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
    </context>
    <context>
        <name>_CodeBar</name>
        <message>
            <source>Scroll the code sideways</source>
            <translation>横向滚动代码</translation>
        </message>
    </context>
    <context>
        <name>_Table</name>
        <message>
            <source>Model catalogue</source>
            <translation>模型目录</translation>
        </message>
    </context>
    <context>
        <name>catalog</name>
        <message>
            <source>A very small chat model built like Llama 2; mainly useful as its draft.</source>
            <translation>结构与 Llama 2 相同的微型对话模型；主要用作它的草稿模型。</translation>
        </message>
        <message>
            <source>Ai2's large model of 2025 whose data and training are public, too; English.</source>
            <translation>Ai2 2025 年的大型模型，数据和训练过程同样公开；适用于英语。</translation>
        </message>
        <message>
            <source>Ai2's large model of early 2025 whose data and training are public; English, short texts.</source>
            <translation>Ai2 2025 年初的大型模型，数据和训练过程公开；适用于英语和短文本。</translation>
        </message>
        <message>
            <source>Ai2's model of medium size of late 2024 whose data and training are public; English.</source>
            <translation>Ai2 2024 年末的中型模型，数据和训练过程公开；适用于英语。</translation>
        </message>
        <message>
            <source>Ai2's model of moderate size of 2025 whose data and training are public, too; English.</source>
            <translation>Ai2 2025 年的中小型模型，数据和训练过程同样公开；适用于英语。</translation>
        </message>
        <message>
            <source>Ai2's model of moderate size of late 2024 whose data and training are public; English.</source>
            <translation>Ai2 2024 年末的中小型模型，数据和训练过程公开；适用于英语。</translation>
        </message>
        <message>
            <source>Ai2's very small model of early 2025; mainly useful as a draft.</source>
            <translation>Ai2 2025 年初的超小型模型；主要用作草稿模型。</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of medium size, in more than 29 languages.</source>
            <translation>阿里巴巴的中型通用模型，支持 29 种以上语言。</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of moderate size of early 2026 that can think.</source>
            <translation>阿里巴巴 2026 年初的中等规模通用模型，能够思考。</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of moderate size, in more than 29 languages.</source>
            <translation>阿里巴巴的中小型通用模型，支持 29 种以上语言。</translation>
        </message>
        <message>
            <source>Alibaba's all-round model: knowledge, mathematics and code, in more than 29 languages.</source>
            <translation>阿里巴巴的通用模型：知识、数学与代码，支持 29 种以上语言。</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of 2026 that can think; long texts take little memory.</source>
            <translation>阿里巴巴 2026 年初的大型通用模型，能够思考；长文本占用内存很少。</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of spring 2026 that can think; also drafts for itself.</source>
            <translation>阿里巴巴 2026 年春季的大型通用模型，能够思考，同样可为自己起草。</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of summer 2026 that can think; drafts for itself.</source>
            <translation>阿里巴巴 2026 年夏季的大型通用模型，能够思考，可为自己起草。</translation>
        </message>
        <message>
            <source>Alibaba's large model for programming: writes, explains and repairs code.</source>
            <translation>阿里巴巴的大型编程模型：编写、解释和修复代码。</translation>
        </message>
        <message>
            <source>Alibaba's large model that can think before it answers: mathematics, code, reasoning.</source>
            <translation>阿里巴巴的大型模型，可先思考再回答：数学、代码与推理。</translation>
        </message>
        <message>
            <source>Alibaba's large model: knowledge, mathematics and code, in more than 29 languages.</source>
            <translation>阿里巴巴的大型模型：知识、数学与代码，支持 29 种以上语言。</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts of 2026 that can think; each token uses a tenth of it.</source>
            <translation>阿里巴巴 2026 年初的混合专家模型，能够思考；每个词元只用到其中十分之一。</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts of spring 2026 that can think; each token uses a tenth of it.</source>
            <translation>阿里巴巴 2026 年春季的混合专家模型，能够思考；每个词元只用到其中十分之一。</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts that can think; each token uses a tenth of it.</source>
            <translation>阿里巴巴的混合专家模型，能够思考；每个词元只用到其中十分之一。</translation>
        </message>
        <message>
            <source>Alibaba's model of medium size that can think before it answers.</source>
            <translation>阿里巴巴的中型模型，可先思考再回答。</translation>
        </message>
        <message>
            <source>Alibaba's model of moderate size for programming: writes, explains and repairs code.</source>
            <translation>阿里巴巴的中小型编程模型：编写、解释和修复代码。</translation>
        </message>
        <message>
            <source>Alibaba's small model for programming: short functions and explanations.</source>
            <translation>阿里巴巴的小型编程模型：简短的函数与解释。</translation>
        </message>
        <message>
            <source>Alibaba's small model for simple questions and short texts.</source>
            <translation>阿里巴巴的小型模型，适合简单问题和短文本。</translation>
        </message>
        <message>
            <source>Alibaba's small model of 2026 that can think, for computers without a graphics card.</source>
            <translation>阿里巴巴 2026 年初的小型模型，能够思考，适合没有显卡的电脑。</translation>
        </message>
        <message>
            <source>Alibaba's small model that can think before it answers simple questions.</source>
            <translation>阿里巴巴的小型模型，可先思考再回答简单问题。</translation>
        </message>
        <message>
            <source>Alibaba's sparse mixture of experts of 2025: 3 of 80 billion parameters per token.</source>
            <translation>阿里巴巴 2025 年的稀疏混合专家模型：每个词元只用到 800 亿参数中的 30 亿。</translation>
        </message>
        <message>
            <source>Alibaba's very small model for programming; mainly useful as a draft.</source>
            <translation>阿里巴巴的微型编程模型；主要用作草稿模型。</translation>
        </message>
        <message>
            <source>Alibaba's very small model of early 2026; useful as the draft of its larger relatives.</source>
            <translation>阿里巴巴 2026 年初的超小型模型；可用作同系列大模型的草稿模型。</translation>
        </message>
        <message>
            <source>Alibaba's very small model; mainly useful as a draft.</source>
            <translation>阿里巴巴的微型模型；主要用作草稿模型。</translation>
        </message>
        <message>
            <source>ByteDance's large model of 2025 whose thinking has a budget; very long texts.</source>
            <translation>字节跳动 2025 年的大型模型，思考可设预算；适合很长的文本。</translation>
        </message>
        <message>
            <source>DeepSeek's distill of R1 of medium size: thinks long; mathematics, programming.</source>
            <translation>DeepSeek 的中型 R1 蒸馏模型：思考时间长；适用于数学和编程。</translation>
        </message>
        <message>
            <source>DeepSeek's distill of R1 of moderate size: thinks long; mathematics, programming.</source>
            <translation>DeepSeek 的中小型 R1 蒸馏模型：思考时间长；适用于数学和编程。</translation>
        </message>
        <message>
            <source>DeepSeek's large distill of R1: thinks long before it answers; mathematics, programming.</source>
            <translation>DeepSeek 的大型 R1 蒸馏模型：回答前思考时间长；适用于数学和编程。</translation>
        </message>
        <message>
            <source>DeepSeek's largest distill of R1: thinks long; mathematics, programming, reasoning.</source>
            <translation>DeepSeek 最大的 R1 蒸馏模型：思考时间长；适用于数学、编程和推理。</translation>
        </message>
        <message>
            <source>DeepSeek's very small distill of R1, which thinks, too: programming; a draft for others.</source>
            <translation>DeepSeek 的超小型 R1 蒸馏模型，同样会思考：适用于编程；可作其他模型的草稿模型。</translation>
        </message>
        <message>
            <source>Google's Gemma 4 model for one graphics card: knowledge, writing, many languages.</source>
            <translation>适合单块显卡的 Google Gemma 4 模型：知识与写作，支持多种语言。</translation>
        </message>
        <message>
            <source>Google's Gemma 4 model for small computers and phones, in many languages.</source>
            <translation>适合小型电脑和手机的 Google Gemma 4 模型，支持多种语言。</translation>
        </message>
        <message>
            <source>Google's large Gemma 3 model: knowledge and writing, in more than 140 languages.</source>
            <translation>Google 的大型 Gemma 3 模型：知识与写作，支持 140 多种语言。</translation>
        </message>
        <message>
            <source>Google's large Gemma 4 model of 2026: knowledge, writing, reasoning, in many languages.</source>
            <translation>Google 2026 年的大型 Gemma 4 模型：知识、写作与推理，支持多种语言。</translation>
        </message>
        <message>
            <source>Google's small Gemma 3 model for short texts in English.</source>
            <translation>Google 的小型 Gemma 3 模型，适合简短的英文文本。</translation>
        </message>
        <message>
            <source>Google's smallest Gemma 4 model: quick answers on small computers, in many languages.</source>
            <translation>Google 最小的 Gemma 4 模型：在小型电脑上快速回答，支持多种语言。</translation>
        </message>
        <message>
            <source>Hugging Face's small model for simple questions and rewriting, in English.</source>
            <translation>Hugging Face 的小型英文模型，适合简单问题和改写。</translation>
        </message>
        <message>
            <source>Hugging Face's small model of 2025 that can think, in six languages.</source>
            <translation>Hugging Face 2025 年的小型模型，能够思考，支持六种语言。</translation>
        </message>
        <message>
            <source>Hugging Face's very small model for short texts in English; often wrong.</source>
            <translation>Hugging Face 的微型模型，适合简短的英文文本；经常出错。</translation>
        </message>
        <message>
            <source>IBM's model of moderate size of early 2025 that thinks if asked to: tools, long texts.</source>
            <translation>IBM 2025 年初的中小型模型，按要求思考：适用于工具和长文本。</translation>
        </message>
        <message>
            <source>IBM's small dense model of 2025, for computers without a graphics card; tools.</source>
            <translation>IBM 2025 年的小型稠密模型，适合没有显卡的电脑，可使用工具。</translation>
        </message>
        <message>
            <source>IBM's small mixture of experts of 2025, quick without a graphics card; long texts.</source>
            <translation>IBM 2025 年的小型混合专家模型，没有显卡也很快，适合长文本。</translation>
        </message>
        <message>
            <source>IBM's small model of early 2025 that thinks if asked to; also a draft for the 8B.</source>
            <translation>IBM 2025 年初的小型模型，按要求思考；也可作 8B 的草稿模型。</translation>
        </message>
        <message>
            <source>Liquid AI's mixture of experts of late 2025 for laptops; a fifth works per token.</source>
            <translation>Liquid AI 2025 年末面向笔记本电脑的混合专家模型，每个词元只用到其中五分之一。</translation>
        </message>
        <message>
            <source>Liquid AI's small model of late 2025, quick without a graphics card; eight languages.</source>
            <translation>Liquid AI 2025 年末的小型模型，没有显卡也很快，支持八种语言。</translation>
        </message>
        <message>
            <source>Meta's all-round model of moderate size, in eight languages.</source>
            <translation>Meta 的中小型通用模型，支持八种语言。</translation>
        </message>
        <message>
            <source>Meta's large chat model of 2023, for English.</source>
            <translation>Meta 2023 年的大型英文对话模型。</translation>
        </message>
        <message>
            <source>Meta's large model of late 2024: knowledge and reasoning, in eight languages.</source>
            <translation>Meta 2024 年末的大型模型：知识与推理，支持八种语言。</translation>
        </message>
        <message>
            <source>Meta's large model of mid-2024: knowledge and reasoning, in eight languages.</source>
            <translation>Meta 2024 年中的大型模型：知识与推理，支持八种语言。</translation>
        </message>
        <message>
            <source>Meta's small chat model of 2023, for English.</source>
            <translation>Meta 2023 年的小型英文对话模型。</translation>
        </message>
        <message>
            <source>Meta's very small model for summaries and rewriting, in eight languages.</source>
            <translation>Meta 的微型模型，适合摘要和改写，支持八种语言。</translation>
        </message>
        <message>
            <source>Microsoft's model of medium size of late 2024: mathematics and reasoning, in English.</source>
            <translation>微软 2024 年末的中等规模模型：数学与推理，主要为英语。</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of early 2025: quick answers, in many languages.</source>
            <translation>Mistral AI 2025 年初的通用模型：回答迅速，支持多种语言。</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of moderate size, of 2024.</source>
            <translation>Mistral AI 2024 年的中小型通用模型。</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of moderate size, of late 2023.</source>
            <translation>Mistral AI 2023 年末的中小型通用模型。</translation>
        </message>
        <message>
            <source>Mistral AI's dense model of late 2025 for programming with tools, on one card.</source>
            <translation>Mistral AI 2025 年末的稠密模型，用于在单张显卡上借助工具编程。</translation>
        </message>
        <message>
            <source>Mistral AI's large dense model of 2026 that can think: code, tools, long texts.</source>
            <translation>Mistral AI 2026 年的大型稠密模型，能够思考：代码、工具、长文本。</translation>
        </message>
        <message>
            <source>Mistral AI's large dense model of late 2025 for programming with tools.</source>
            <translation>Mistral AI 2025 年末的大型稠密模型，用于借助工具编程。</translation>
        </message>
        <message>
            <source>Mistral AI's large model of 2024: reasoning and code, in dozens of languages.</source>
            <translation>Mistral AI 2024 年的大型模型：推理与代码，支持数十种语言。</translation>
        </message>
        <message>
            <source>Mistral AI's mixture of experts: general questions and code, in five languages.</source>
            <translation>Mistral AI 的混合专家模型：一般问题与代码，支持五种语言。</translation>
        </message>
        <message>
            <source>Mistral AI's model of medium size of late 2025: quick answers, in many languages.</source>
            <translation>Mistral AI 2025 年末的中等规模模型：回答迅速，支持多种语言。</translation>
        </message>
        <message>
            <source>Mistral AI's model of moderate size of late 2025: quick answers, many languages.</source>
            <translation>Mistral AI 2025 年末的中小型模型：回答迅速，支持多种语言。</translation>
        </message>
        <message>
            <source>Mistral AI's small model of late 2025, for computers without a graphics card.</source>
            <translation>Mistral AI 2025 年末的小型模型，适合没有显卡的电脑。</translation>
        </message>
        <message>
            <source>NVIDIA's hybrid model of mid-2025 that can think: little memory for long texts.</source>
            <translation>NVIDIA 2025 年中的混合架构模型，可以思考：长文本占用内存少。</translation>
        </message>
        <message>
            <source>NVIDIA's mixture of experts of late 2025 that can think; each token uses a tenth of it.</source>
            <translation>英伟达 2025 年末的混合专家模型，能够思考；每个词元只用到其中十分之一。</translation>
        </message>
        <message>
            <source>OpenAI's large mixture of experts that thinks; five billion of it work on each token.</source>
            <translation>OpenAI 的大型混合专家模型，会先思考；每个词元用到其中五十亿参数。</translation>
        </message>
        <message>
            <source>OpenAI's mixture of experts that thinks; a sixth of it works on each token.</source>
            <translation>OpenAI 的混合专家模型，会先思考；每个词元只用到其中六分之一。</translation>
        </message>
        <message>
            <source>The demonstration model: tiny and often wrong, it shows how the program works.</source>
            <translation>演示模型：很小，经常出错，用来展示程序如何工作。</translation>
        </message>
        <message>
            <source>Zhipu's all-round model of medium size of 2025, for Chinese and English.</source>
            <translation>智谱 2025 年的中等规模通用模型，适用于中文和英语。</translation>
        </message>
        <message>
            <source>Zhipu's sparse mixture of experts of 2025 that can think; a ninth works per token.</source>
            <translation>智谱 2025 年的稀疏混合专家模型，能够思考；每个词元只用到其中九分之一。</translation>
        </message>
    </context>
    <context>
        <name>chat_import</name>
        <message>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <source>Imported 1 chat</source>
            <translation>已导入 1 个对话</translation>
        </message>
        <message>
            <source>Imported {} chats</source>
            <translation>已导入 {} 个对话</translation>
        </message>
        <message>
            <source>Stopped. {}</source>
            <translation>已停止。{}</translation>
        </message>
        <message>
            <source>These chats could not be read:</source>
            <translation>以下对话无法读取：</translation>
        </message>
        <message>
            <source>{} already here</source>
            <translation>{} 个已存在</translation>
        </message>
        <message>
            <source>{} could not be read</source>
            <translation>{} 个无法读取</translation>
        </message>
    </context>
    <context>
        <name>chat_options</name>
        <message>
            <source>A repetition ends at tokens that contain one of these texts. One per line; \n stands for a line break.</source>
            <translation>遇到包含以下任一文本的词元时，重复即告结束。每行一个；\n 表示换行。</translation>
        </message>
        <message>
            <source>Added to the logits of single tokens. One per line: token id, colon, value from -1000 to 1000.</source>
            <translation>加到单个词元的 logit 上。每行一个：词元 ID、冒号、-1000 到 1000 的值。</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <source>Ask for the probability of each token, and of this many alternatives. “Colour the answer”, beside the chat, shows them.</source>
            <translation>请求每个词元的概率，以及另外这么多个候选词元的概率。对话旁的“为回答着色”会显示它们。</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>Beams</source>
            <translation>束数</translation>
        </message>
        <message>
            <source>Best available</source>
            <translation>最佳可用模型</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>DRY allowed length</source>
            <translation>DRY 允许长度</translation>
        </message>
        <message>
            <source>DRY base</source>
            <translation>DRY 底数</translation>
        </message>
        <message>
            <source>DRY penalty</source>
            <translation>DRY 惩罚</translation>
        </message>
        <message>
            <source>DRY range</source>
            <translation>DRY 范围</translation>
        </message>
        <message>
            <source>DRY sequence breakers</source>
            <translation>DRY 序列分隔符</translation>
        </message>
        <message>
            <source>Depth</source>
            <translation>深度</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>Drafter</source>
            <translation>起草方法</translation>
        </message>
        <message>
            <source>Exclude tokens whose probability is below this fraction of the most likely token's.</source>
            <translation>排除概率低于最可能词元概率的这一比例的词元。</translation>
        </message>
        <message>
            <source>Frequency penalty</source>
            <translation>频率惩罚</translation>
        </message>
        <message>
            <source>Higher values make answers more varied. 0 always picks the most likely token.</source>
            <translation>值越大，回答越多样。0：始终选最可能的词元。</translation>
        </message>
        <message>
            <source>How far back DRY looks for repetitions.</source>
            <translation>DRY 向前查找重复内容的范围。</translation>
        </message>
        <message>
            <source>How fast the DRY penalty grows with the length of the repetition.</source>
            <translation>DRY 惩罚随重复长度增长的速度。</translation>
        </message>
        <message>
            <source>How often the most likely tokens are excluded, so that answers are less predictable. No effect at temperature 0.</source>
            <translation>排除最可能的词元的频率，使回答不那么千篇一律。温度为 0 时无效。</translation>
        </message>
        <message>
            <source>Included with the program</source>
            <translation>程序自带的模型</translation>
        </message>
        <message>
            <source>Instructions that the model receives before the chat: its role and how it should answer.</source>
            <translation>模型在对话之前收到的指示：它的角色，以及应如何回答。</translation>
        </message>
        <message>
            <source>Let answers call the tools that are turned on in the settings.</source>
            <translation>允许回答调用在设置中打开的工具。</translation>
        </message>
        <message>
            <source>Log-probabilities</source>
            <translation>对数概率</translation>
        </message>
        <message>
            <source>Logit bias</source>
            <translation>logit 偏置</translation>
        </message>
        <message>
            <source>Makes tokens that would continue a repetition less likely, the more so the longer the repetition is. 0.8 is usual.</source>
            <translation>降低会延续重复内容的词元的可能性，重复越长，降低越多。常用值为 0.8。</translation>
        </message>
        <message>
            <source>Maximum answer length</source>
            <translation>回答长度上限</translation>
        </message>
        <message>
            <source>Maximum depth of a token tree.</source>
            <translation>词元树的最大深度。</translation>
        </message>
        <message>
            <source>Maximum number of nodes in a token tree. Automatic: the fastest size, found while answering.</source>
            <translation>词元树的最大节点数。自动：在回答过程中找出最快的值。</translation>
        </message>
        <message>
            <source>Maximum number of tokens in an answer.</source>
            <translation>一个回答的最大词元数。</translation>
        </message>
        <message>
            <source>Maximum number of tokens in prompt and answer together. A larger context needs more memory.</source>
            <translation>提示词与回答合计的最大词元数。上下文越大，需要的内存越多。</translation>
        </message>
        <message>
            <source>Maximum number of tokens that the model may think before it answers.</source>
            <translation>模型在回答之前最多可思考的词元数。</translation>
        </message>
        <message>
            <source>Min-p</source>
            <translation>Min-p</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>No limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>None</source>
            <translation>无</translation>
        </message>
        <message>
            <source>Number of nodes that the draft expands in each round.</source>
            <translation>草稿模型每一轮扩展的节点数。</translation>
        </message>
        <message>
            <source>Off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>Presence penalty</source>
            <translation>存在惩罚</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>Repetition penalty</source>
            <translation>重复惩罚</translation>
        </message>
        <message>
            <source>Sample only from the most likely tokens whose probabilities add up to this value. 1: all tokens.</source>
            <translation>只从概率之和达到此值的最可能词元中采样。1：全部词元。</translation>
        </message>
        <message>
            <source>Sample only from this many of the most likely tokens.</source>
            <translation>只从这么多个最可能的词元中采样。</translation>
        </message>
        <message>
            <source>Sampling</source>
            <translation>采样</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>Shortest repetition that DRY counts.</source>
            <translation>DRY 计入的最短重复长度。</translation>
        </message>
        <message>
            <source>Stop an answer that says the same over and over. It can be continued.</source>
            <translation>停止不断重复相同内容的回答。之后可以继续。</translation>
        </message>
        <message>
            <source>Stop repetition</source>
            <translation>停止重复</translation>
        </message>
        <message>
            <source>Stop strings</source>
            <translation>停止字符串</translation>
        </message>
        <message>
            <source>Subtracted from the logit of a token for each time it already occurs in the answer.</source>
            <translation>词元在回答中每出现过一次，就从其 logit 中减去一次。</translation>
        </message>
        <message>
            <source>Subtracted once from the logit of every token that already occurs in the answer.</source>
            <translation>从回答中已出现的每个词元的 logit 中减去一次。</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>系统提示词</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>目标模型</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>The answer ends before the first of these texts. One per line; \n stands for a line break.</source>
            <translation>回答在其中最先出现的文本之前结束。每行一个；\n 表示换行。</translation>
        </message>
        <message>
            <source>The method that proposes tokens. It affects the speed, not the quality of the answers.</source>
            <translation>提出词元的方法。它影响速度，不影响回答的质量。</translation>
        </message>
        <message>
            <source>The model that answers.</source>
            <translation>负责回答的模型。</translation>
        </message>
        <message>
            <source>The same seed and settings give the same text on the processor; on a graphics card, in float32. Empty: a new seed for each answer.</source>
            <translation>在处理器上，种子和设置相同则文本相同；在显卡上，使用 float32 时如此。留空：每次回答使用新的种子。</translation>
        </message>
        <message>
            <source>The small model that guesses ahead. It must have the same vocabulary as the target.</source>
            <translation>提前猜测的小模型。它的词表必须与目标模型相同。</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>思考</translation>
        </message>
        <message>
            <source>Thinking budget</source>
            <translation>思考预算</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>工具</translation>
        </message>
        <message>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <source>Top-p</source>
            <translation>Top-p</translation>
        </message>
        <message>
            <source>Values above 1 make tokens that already occur in the text less likely.</source>
            <translation>大于 1 的值使文本中已出现的词元更不易再出现。</translation>
        </message>
        <message>
            <source>Whether the model thinks before it answers, and how hard, for models that leave the choice.</source>
            <translation>模型回答前是否思考以及思考多深，适用于可以选择的模型。</translation>
        </message>
        <message>
            <source>Whole chat</source>
            <translation>整个对话</translation>
        </message>
        <message>
            <source>XTC excludes tokens with at least this probability, except the least likely one of them.</source>
            <translation>XTC 会排除概率不低于此值的词元，但保留其中概率最低的一个。</translation>
        </message>
        <message>
            <source>XTC probability</source>
            <translation>XTC 概率</translation>
        </message>
        <message>
            <source>XTC threshold</source>
            <translation>XTC 阈值</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>词元</translation>
        </message>
    </context>
    <context>
        <name>engine_words</name>
        <message>
            <source>AMD graphics card (ROCm)</source>
            <translation>AMD 显卡（ROCm）</translation>
        </message>
        <message>
            <source>Check the disk</source>
            <translation>检查磁盘</translation>
        </message>
        <message>
            <source>Disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <source>Engine: {}</source>
            <translation>引擎：{}</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>Install PyTorch</source>
            <translation>安装 PyTorch</translation>
        </message>
        <message>
            <source>Install the packages</source>
            <translation>安装软件包</translation>
        </message>
        <message>
            <source>NVIDIA graphics card (CUDA)</source>
            <translation>NVIDIA 显卡（CUDA）</translation>
        </message>
        <message>
            <source>None suitable</source>
            <translation>没有合适的显卡</translation>
        </message>
        <message>
            <source>Processor (CPU)</source>
            <translation>处理器（CPU）</translation>
        </message>
        <message>
            <source>Switch to the new engine</source>
            <translation>切换到新引擎</translation>
        </message>
        <message>
            <source>Test: one matrix product, one token</source>
            <translation>测试：一次矩阵乘法，一个词元</translation>
        </message>
        <message>
            <source>Unpack the file</source>
            <translation>解压文件</translation>
        </message>
        <message>
            <source>driver {}</source>
            <translation>驱动程序 {}</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>{} free</source>
            <translation>{} 可用</translation>
        </message>
        <message>
            <source>{} to download, {} on disk</source>
            <translation>需下载 {}，占用磁盘 {}</translation>
        </message>
    </context>
    <context>
        <name>faults</name>
        <message>
            <source>A name is not safe.</source>
            <translation>名称不安全。</translation>
        </message>
        <message>
            <source>A package is not the expected one, or is not available.</source>
            <translation>软件包与预期不符或无法获得。</translation>
        </message>
        <message>
            <source>A setting does not fit.</source>
            <translation>有一项设置不合适。</translation>
        </message>
        <message>
            <source>Another download is working on this model's files.</source>
            <translation>另一个下载正在处理此模型的文件。</translation>
        </message>
        <message>
            <source>Another program has locked the chats.</source>
            <translation>另一个程序已锁定对话。</translation>
        </message>
        <message>
            <source>Another program uses this port already.</source>
            <translation>另一个程序已占用此端口。</translation>
        </message>
        <message>
            <source>Another window is setting up the engine.</source>
            <translation>另一个窗口正在设置引擎。</translation>
        </message>
        <message>
            <source>Draft and target have different vocabularies.</source>
            <translation>草稿模型与目标模型的词表不同。</translation>
        </message>
        <message>
            <source>It does not exist any more.</source>
            <translation>它已不存在。</translation>
        </message>
        <message>
            <source>It was cancelled.</source>
            <translation>已取消。</translation>
        </message>
        <message>
            <source>Linux runs inside Windows here, with a part of the memory.</source>
            <translation>这是 Windows 中的 Linux（WSL），只能使用部分内存。</translation>
        </message>
        <message>
            <source>Little memory is free.</source>
            <translation>可用内存不多。</translation>
        </message>
        <message>
            <source>Models run on this machine, not on the one in front of you.</source>
            <translation>模型在远程计算机上运行，而不是在您面前的电脑上。</translation>
        </message>
        <message>
            <source>No engine was added under this name.</source>
            <translation>没有以此名称添加的引擎。</translation>
        </message>
        <message>
            <source>No model is loaded.</source>
            <translation>未加载模型。</translation>
        </message>
        <message>
            <source>No newer version could be looked for.</source>
            <translation>未能查找新版本。</translation>
        </message>
        <message>
            <source>No supported graphics card was found.</source>
            <translation>未找到受支持的显卡。</translation>
        </message>
        <message>
            <source>Packages that this needs are not installed.</source>
            <translation>未安装所需的软件包。</translation>
        </message>
        <message>
            <source>PyTorch is needed and is not set up.</source>
            <translation>需要 PyTorch，但尚未设置。</translation>
        </message>
        <message>
            <source>PyTorch is not set up.</source>
            <translation>尚未设置 PyTorch。</translation>
        </message>
        <message>
            <source>Something went wrong.</source>
            <translation>出现问题。</translation>
        </message>
        <message>
            <source>The Hugging Face Hub cannot be reached.</source>
            <translation>无法连接 Hugging Face Hub。</translation>
        </message>
        <message>
            <source>The answer broke off or cannot be read.</source>
            <translation>回答中断或无法读取。</translation>
        </message>
        <message>
            <source>The chats cannot be read or written.</source>
            <translation>无法读取或写入对话。</translation>
        </message>
        <message>
            <source>The chats cannot be written.</source>
            <translation>无法写入对话。</translation>
        </message>
        <message>
            <source>The chats were written by a newer version.</source>
            <translation>对话由更新的版本写入。</translation>
        </message>
        <message>
            <source>The computer runs on battery, which slows it down.</source>
            <translation>电脑正在使用电池，速度会变慢。</translation>
        </message>
        <message>
            <source>The conversation is too long for this model.</source>
            <translation>对话对此模型来说太长。</translation>
        </message>
        <message>
            <source>The device cannot be used.</source>
            <translation>无法使用该设备。</translation>
        </message>
        <message>
            <source>The disk is full.</source>
            <translation>磁盘已满。</translation>
        </message>
        <message>
            <source>The disk or the folder cannot be used.</source>
            <translation>无法使用该磁盘或文件夹。</translation>
        </message>
        <message>
            <source>The disk with the model does not answer.</source>
            <translation>存放模型的磁盘没有响应。</translation>
        </message>
        <message>
            <source>The disk with the models is nearly full.</source>
            <translation>存放模型的磁盘空间快用完了。</translation>
        </message>
        <message>
            <source>The engine has ended or could not be started.</source>
            <translation>引擎已结束或无法启动。</translation>
        </message>
        <message>
            <source>The file with the chats is damaged.</source>
            <translation>对话文件已损坏。</translation>
        </message>
        <message>
            <source>The graphics card cannot be used now.</source>
            <translation>显卡目前无法使用。</translation>
        </message>
        <message>
            <source>The graphics card has stopped.</source>
            <translation>显卡已停止工作。</translation>
        </message>
        <message>
            <source>The graphics card works more slowly than it could.</source>
            <translation>显卡没有发挥出应有的速度。</translation>
        </message>
        <message>
            <source>The graphics card's driver is too old.</source>
            <translation>显卡驱动程序过旧。</translation>
        </message>
        <message>
            <source>The installed PyTorch cannot use the graphics card.</source>
            <translation>已安装的 PyTorch 无法使用显卡。</translation>
        </message>
        <message>
            <source>The installed PyTorch does not support the graphics card.</source>
            <translation>已安装的 PyTorch 不支持此显卡。</translation>
        </message>
        <message>
            <source>The key would be sent without encryption.</source>
            <translation>密钥将以未加密方式发送。</translation>
        </message>
        <message>
            <source>The keyring stays locked.</source>
            <translation>密钥环仍处于锁定状态。</translation>
        </message>
        <message>
            <source>The list of added engines cannot be read or written.</source>
            <translation>无法读取或写入已添加引擎的列表。</translation>
        </message>
        <message>
            <source>The machine could not be measured.</source>
            <translation>未能测量此计算机。</translation>
        </message>
        <message>
            <source>The model asks for an account.</source>
            <translation>该模型需要账户。</translation>
        </message>
        <message>
            <source>The model computes numbers that are not valid.</source>
            <translation>模型计算出无效的数值。</translation>
        </message>
        <message>
            <source>The model file is damaged or incomplete.</source>
            <translation>模型文件已损坏或不完整。</translation>
        </message>
        <message>
            <source>The model is not there.</source>
            <translation>找不到该模型。</translation>
        </message>
        <message>
            <source>The model's file changed or became unreadable.</source>
            <translation>模型文件已更改或无法读取。</translation>
        </message>
        <message>
            <source>The model's licence was not accepted yet.</source>
            <translation>尚未接受该模型的许可证。</translation>
        </message>
        <message>
            <source>The models lie on a Windows drive, which WSL reads slowly.</source>
            <translation>模型位于 Windows 驱动器上，WSL 读取较慢。</translation>
        </message>
        <message>
            <source>The models lie on a hard disk, which reads slowly.</source>
            <translation>模型位于机械硬盘上，读取较慢。</translation>
        </message>
        <message>
            <source>The models lie on a network share, which reads slowly.</source>
            <translation>模型位于网络共享上，读取较慢。</translation>
        </message>
        <message>
            <source>The models lie on a slow disk.</source>
            <translation>模型位于较慢的磁盘上。</translation>
        </message>
        <message>
            <source>The new runtime does not work on this machine.</source>
            <translation>新的运行时无法在此计算机上工作。</translation>
        </message>
        <message>
            <source>The newer version cannot be applied here.</source>
            <translation>无法在此应用新版本。</translation>
        </message>
        <message>
            <source>The newer version cannot be trusted.</source>
            <translation>无法信任新版本。</translation>
        </message>
        <message>
            <source>The package server cannot be reached.</source>
            <translation>无法连接软件包服务器。</translation>
        </message>
        <message>
            <source>The schema or grammar allows no further word here.</source>
            <translation>模式或语法在此处不允许任何后续词。</translation>
        </message>
        <message>
            <source>The schema or grammar cannot be used.</source>
            <translation>无法使用该模式或语法。</translation>
        </message>
        <message>
            <source>The server cannot be reached.</source>
            <translation>无法连接服务器。</translation>
        </message>
        <message>
            <source>The server has no model now.</source>
            <translation>服务器目前没有模型。</translation>
        </message>
        <message>
            <source>The server has too much to do or is still starting.</source>
            <translation>服务器过于繁忙或仍在启动。</translation>
        </message>
        <message>
            <source>The server refuses the key or asks for one.</source>
            <translation>服务器拒绝该密钥或要求提供密钥。</translation>
        </message>
        <message>
            <source>The server refuses the request.</source>
            <translation>服务器拒绝该请求。</translation>
        </message>
        <message>
            <source>The server's certificate is not trusted.</source>
            <translation>服务器的证书不受信任。</translation>
        </message>
        <message>
            <source>The settings cannot be read or written.</source>
            <translation>无法读取或写入设置。</translation>
        </message>
        <message>
            <source>The system allows this program no more.</source>
            <translation>系统不再允许此程序使用更多资源。</translation>
        </message>
        <message>
            <source>The tool cannot be used.</source>
            <translation>无法使用该工具。</translation>
        </message>
        <message>
            <source>There is no text to answer.</source>
            <translation>没有可回答的文本。</translation>
        </message>
        <message>
            <source>There is not enough memory.</source>
            <translation>内存不足。</translation>
        </message>
        <message>
            <source>This account has no access to the model.</source>
            <translation>此账户无权访问该模型。</translation>
        </message>
        <message>
            <source>This file cannot be downloaded in this way.</source>
            <translation>无法以此方式下载该文件。</translation>
        </message>
        <message>
            <source>This file has nothing that can be imported.</source>
            <translation>此文件中没有可导入的内容。</translation>
        </message>
        <message>
            <source>This is not a recorded race, or it is damaged.</source>
            <translation>这不是已记录的竞赛，或已损坏。</translation>
        </message>
        <message>
            <source>This is not a recorded run, or it is damaged.</source>
            <translation>这不是已记录的运行，或已损坏。</translation>
        </message>
        <message>
            <source>This is not a runtime file that fits here.</source>
            <translation>这不是适用于此处的运行时文件。</translation>
        </message>
        <message>
            <source>This kind of model cannot be run here.</source>
            <translation>此类模型无法在此运行。</translation>
        </message>
        <message>
            <source>This program may use only a part of the memory.</source>
            <translation>本程序只能使用部分内存。</translation>
        </message>
        <message>
            <source>This program may use only some of the processor's cores.</source>
            <translation>本程序只能使用处理器的部分核心。</translation>
        </message>
        <message>
            <source>This server is not one that this program can talk to.</source>
            <translation>此服务器不是本程序可以通信的服务器。</translation>
        </message>
        <message>
            <source>This server lacks an option that would change the text.</source>
            <translation>此服务器缺少会改变文本的选项。</translation>
        </message>
        <message>
            <source>What was downloaded is not the file that was listed.</source>
            <translation>下载的内容与列出的文件不符。</translation>
        </message>
        <message>
            <source>Windows lets the graphics card use only a part of the memory directly.</source>
            <translation>Windows 只允许显卡直接使用部分内存。</translation>
        </message>
    </context>
    <context>
        <name>files</name>
        <message>
            <source>1 page</source>
            <translation>1 页</translation>
        </message>
        <message>
            <source>1 section</source>
            <translation>1 节</translation>
        </message>
        <message>
            <source>1 sheet</source>
            <translation>1 个工作表</translation>
        </message>
        <message>
            <source>about {} tokens</source>
            <translation>约 {} 个词元</translation>
        </message>
        <message>
            <source>picture, not seen by the model</source>
            <translation>图片，模型看不到</translation>
        </message>
        <message>
            <source>searched for each question</source>
            <translation>每次提问时检索</translation>
        </message>
        <message>
            <source>{} cannot be opened; check its permissions.</source>
            <translation>无法打开 {}；请检查其权限。</translation>
        </message>
        <message>
            <source>{} cannot be read, because the system starts no more processes.</source>
            <translation>系统无法再启动进程，因此无法读取 {}。</translation>
        </message>
        <message>
            <source>{} contains macros; save it as a document without them.</source>
            <translation>{} 含有宏；请另存为不含宏的文档。</translation>
        </message>
        <message>
            <source>{} has more than {} characters; take a part of it.</source>
            <translation>{} 超过 {} 个字符；请只取其中一部分。</translation>
        </message>
        <message>
            <source>{} has more than {} pages; take a part of it.</source>
            <translation>{} 超过 {} 页；请只取其中一部分。</translation>
        </message>
        <message>
            <source>{} has no text; it may hold pictures of pages.</source>
            <translation>{} 没有文本；其中可能是页面的图片。</translation>
        </message>
        <message>
            <source>{} holds weights of a model. To load it, click the model's name at the top of the chat (Ctrl+M), then “Open file…”, and choose config.json in the folder of this file.</source>
            <translation>{} 包含模型的权重。要加载该模型，请点击对话上方的模型名称（Ctrl+M），选择“打开文件…”，然后选择此文件所在文件夹中的 config.json。</translation>
        </message>
        <message>
            <source>{} is a folder; drop the files in it.</source>
            <translation>{} 是文件夹；请拖放其中的文件。</translation>
        </message>
        <message>
            <source>{} is a model. To load it, click the model's name at the top of the chat (Ctrl+M), then “Open file…”.</source>
            <translation>{} 是模型。要加载它，请点击对话上方的模型名称（Ctrl+M），然后选择“打开文件…”。</translation>
        </message>
        <message>
            <source>{} is an archive; drop the files in it.</source>
            <translation>{} 是压缩包；请拖放其中的文件。</translation>
        </message>
        <message>
            <source>{} is built to fill the memory, so it was not read.</source>
            <translation>{} 的构造会占满内存，因此未读取。</translation>
        </message>
        <message>
            <source>{} is damaged.</source>
            <translation>{} 已损坏。</translation>
        </message>
        <message>
            <source>{} is larger than {}; take a part of it.</source>
            <translation>{} 大于 {}；请只取其中一部分。</translation>
        </message>
        <message>
            <source>{} is neither text in UTF-8 nor a document that can be read.</source>
            <translation>{} 既不是 UTF-8 文本，也不是可读取的文档。</translation>
        </message>
        <message>
            <source>{} is not a file that can be read.</source>
            <translation>{} 不是可以读取的文件。</translation>
        </message>
        <message>
            <source>{} is not what the end of its name says.</source>
            <translation>{} 的内容与其扩展名不符。</translation>
        </message>
        <message>
            <source>{} is of an old format; save it as DOCX or XLSX.</source>
            <translation>{} 是旧格式；请另存为 DOCX 或 XLSX。</translation>
        </message>
        <message>
            <source>{} is protected by a password; save it without one.</source>
            <translation>{} 受密码保护；请另存为不带密码的文件。</translation>
        </message>
        <message>
            <source>{} pages</source>
            <translation>{} 页</translation>
        </message>
        <message>
            <source>{} sections</source>
            <translation>{} 节</translation>
        </message>
        <message>
            <source>{} sheets</source>
            <translation>{} 个工作表</translation>
        </message>
        <message>
            <source>{} takes too much time or memory to read; take a part of it.</source>
            <translation>读取 {} 占用的时间或内存过多；请只取其中一部分。</translation>
        </message>
        <message>
            <source>{}, page {}</source>
            <translation>{}，第 {} 页</translation>
        </message>
        <message>
            <source>{}, section {}</source>
            <translation>{}，第 {} 节</translation>
        </message>
        <message>
            <source>{}, sheet {}</source>
            <translation>{}，第 {} 个工作表</translation>
        </message>
    </context>
    <context>
        <name>kernels</name>
        <message>
            <source>Copying and computing take turns instead, which is slower.</source>
            <translation>改为轮流复制和计算，速度较慢。</translation>
        </message>
        <message>
            <source>It is computed in float32 instead, which is slower.</source>
            <translation>改用 float32 计算，速度较慢。</translation>
        </message>
        <message>
            <source>It is computed step by step instead, which is slower.</source>
            <translation>改为逐步计算，速度较慢。</translation>
        </message>
        <message>
            <source>Kernels are launched one by one instead, which is slower.</source>
            <translation>改为逐个启动内核，速度较慢。</translation>
        </message>
        <message>
            <source>Matrices are multiplied in float32 instead.</source>
            <translation>改用 float32 计算矩阵乘法。</translation>
        </message>
        <message>
            <source>On the graphics card, this ends the program: {}.</source>
            <translation>在显卡上会使程序终止：{}。</translation>
        </message>
        <message>
            <source>Plain PyTorch unpacks them instead, which is several times slower.</source>
            <translation>改由普通 PyTorch 解包，速度慢数倍。</translation>
        </message>
        <message>
            <source>Systems of equations are solved row by row instead, which is slower.</source>
            <translation>改为逐行求解方程组，速度较慢。</translation>
        </message>
        <message>
            <source>The driver copies weights through its own buffer, which is slower.</source>
            <translation>驱动程序通过自己的缓冲区复制权重，速度较慢。</translation>
        </message>
        <message>
            <source>The graphics card gives wrong numbers: {}.</source>
            <translation>显卡算出错误的数值：{}。</translation>
        </message>
        <message>
            <source>The graphics card is slow: {}.</source>
            <translation>在显卡上速度慢：{}。</translation>
        </message>
        <message>
            <source>The processor computes it instead.</source>
            <translation>改由处理器计算。</translation>
        </message>
        <message>
            <source>The processor unpacks them instead, which is much slower.</source>
            <translation>改由处理器解包，速度慢得多。</translation>
        </message>
        <message>
            <source>The weights are unpacked first instead, which is slower for few tokens.</source>
            <translation>改为先解包权重，词元少时速度较慢。</translation>
        </message>
        <message>
            <source>This does not end on the graphics card: {}.</source>
            <translation>在显卡上无法结束：{}。</translation>
        </message>
        <message>
            <source>This does not work on the graphics card: {}.</source>
            <translation>在显卡上无法进行：{}。</translation>
        </message>
        <message>
            <source>This may have stopped the graphics card: {}.</source>
            <translation>可能导致了显卡停止：{}。</translation>
        </message>
        <message>
            <source>attention</source>
            <translation>注意力</translation>
        </message>
        <message>
            <source>attention with sinks or capped scores</source>
            <translation>带汇点或分数上限的注意力</translation>
        </message>
        <message>
            <source>copying from pinned memory</source>
            <translation>从锁页内存复制</translation>
        </message>
        <message>
            <source>copying while computing</source>
            <translation>边计算边复制</translation>
        </message>
        <message>
            <source>copying within its memory</source>
            <translation>显存内复制</translation>
        </message>
        <message>
            <source>layers with states</source>
            <translation>带状态的层</translation>
        </message>
        <message>
            <source>multiplying by packed weights</source>
            <translation>与未解包的权重相乘</translation>
        </message>
        <message>
            <source>multiplying in float16</source>
            <translation>float16 乘法</translation>
        </message>
        <message>
            <source>multiplying matrices</source>
            <translation>矩阵乘法</translation>
        </message>
        <message>
            <source>replaying a CUDA graph</source>
            <translation>重放 CUDA 图</translation>
        </message>
        <message>
            <source>the noise for sampling</source>
            <translation>采样噪声</translation>
        </message>
        <message>
            <source>unpacking weights</source>
            <translation>解包权重</translation>
        </message>
        <message>
            <source>{} ({})</source>
            <translation>{}（{}）</translation>
        </message>
    </context>
    <context>
        <name>link_question</name>
        <message>
            <source>Links of this kind are not opened.</source>
            <translation>不会打开此类链接。</translation>
        </message>
        <message>
            <source>Open this link in your browser?</source>
            <translation>要在浏览器中打开此链接吗？</translation>
        </message>
    </context>
    <context>
        <name>memory</name>
        <message>
            <source>RAM</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>RAM {}</source>
            <translation>内存 {}</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>显存</translation>
        </message>
        <message>
            <source>VRAM {}</source>
            <translation>显存 {}</translation>
        </message>
        <message>
            <source>disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>draft KV cache</source>
            <translation>草稿模型的 KV 缓存</translation>
        </message>
        <message>
            <source>experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <source>experts of {} on the disk</source>
            <translation>磁盘上的专家 {}</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>预测头</translation>
        </message>
        <message>
            <source>other chats</source>
            <translation>其他对话</translation>
        </message>
        <message>
            <source>slots for streamed layers</source>
            <translation>流式层的槽位</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标模型</translation>
        </message>
        <message>
            <source>target KV cache</source>
            <translation>目标模型的 KV 缓存</translation>
        </message>
        <message>
            <source>{} read from the disk in every pass</source>
            <translation>每遍从磁盘读取 {}</translation>
        </message>
    </context>
    <context>
        <name>model_file</name>
        <message>
            <source>Models (*.gguf config.json)</source>
            <translation>模型 (*.gguf config.json)</translation>
        </message>
        <message>
            <source>Open model</source>
            <translation>打开模型</translation>
        </message>
    </context>
    <context>
        <name>node_words</name>
        <message>
            <source>Accepted.</source>
            <translation>已接受。</translation>
        </message>
        <message>
            <source>Draft {}, target {} (rank {}).</source>
            <translation>草稿模型 {}，目标模型 {}（排名第 {}）。</translation>
        </message>
        <message>
            <source>Draft {}.</source>
            <translation>草稿模型 {}。</translation>
        </message>
        <message>
            <source>Not verified yet.</source>
            <translation>尚未验证。</translation>
        </message>
        <message>
            <source>Proposed while the target verified the tree before.</source>
            <translation>在目标验证上一棵树期间提议。</translation>
        </message>
        <message>
            <source>Rejected: its parent was rejected.</source>
            <translation>已拒绝：其父节点被拒绝。</translation>
        </message>
        <message>
            <source>Rejected: the answer ended before it.</source>
            <translation>已拒绝：回答在此之前已结束。</translation>
        </message>
        <message>
            <source>Rejected: the target chose “{}”.</source>
            <translation>已拒绝：目标模型选择了“{}”。</translation>
        </message>
        <message>
            <source>The target's own choice, from the same pass that verified the tree.</source>
            <translation>目标模型自己的选择，来自验证词元树的同一遍。</translation>
        </message>
        <message>
            <source>The target's own choice, with a probability of {}.</source>
            <translation>目标模型自己的选择，其概率为 {}。</translation>
        </message>
        <message>
            <source>draft model</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>预测头</translation>
        </message>
        <message>
            <source>less than 0.1 %</source>
            <translation>小于 0.1%</translation>
        </message>
        <message>
            <source>lookahead</source>
            <translation>前瞻</translation>
        </message>
        <message>
            <source>n-gram</source>
            <translation>n-gram</translation>
        </message>
        <message>
            <source>recycling</source>
            <translation>回收</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
        <message>
            <source>“{}”, token {}, proposed by: {}.</source>
            <translation>“{}”，词元 {}，提出者：{}。</translation>
        </message>
        <message>
            <source>“{}”, token {}: the bonus token. {}</source>
            <translation>“{}”，词元 {}：奖励词元。{}</translation>
        </message>
        <message>
            <source>“{}”: the last token of the text so far. The tree grows from it.</source>
            <translation>“{}”：目前文本的最后一个词元。树从这里生长。</translation>
        </message>
    </context>
    <context>
        <name>outline</name>
        <message>
            <source>Folder {}</source>
            <translation>文件夹 {}</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>新对话</translation>
        </message>
        <message>
            <source>Pinned</source>
            <translation>已置顶</translation>
        </message>
        <message>
            <source>Previous 30 days</source>
            <translation>过去 30 天</translation>
        </message>
        <message>
            <source>Previous 7 days</source>
            <translation>过去 7 天</translation>
        </message>
        <message>
            <source>Today</source>
            <translation>今天</translation>
        </message>
        <message>
            <source>Yesterday</source>
            <translation>昨天</translation>
        </message>
        <message>
            <source>{month} {year}</source>
            <translation>{year} 年 {month}</translation>
        </message>
    </context>
    <context>
        <name>program_options</name>
        <message>
            <source>16 bits</source>
            <translation>16 位</translation>
        </message>
        <message>
            <source>8 bits</source>
            <translation>8 位</translation>
        </message>
        <message>
            <source>8 bits take about half the memory of 16 bits and are a little less precise. Only on the processor.</source>
            <translation>8 位占用的内存约为 16 位的一半，精度略低。仅适用于处理器。</translation>
        </message>
        <message>
            <source>After 15 minutes</source>
            <translation>15 分钟后</translation>
        </message>
        <message>
            <source>After 5 minutes</source>
            <translation>5 分钟后</translation>
        </message>
        <message>
            <source>After an hour</source>
            <translation>1 小时后</translation>
        </message>
        <message>
            <source>Appearance and language</source>
            <translation>外观与语言</translation>
        </message>
        <message>
            <source>As stored</source>
            <translation>按存储格式</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>Automatic: on the processor, weights as stored times activations in 8 bits, the fastest. float32 is the most precise and the slowest.</source>
            <translation>自动：在处理器上，以存储格式的权重乘以 8 位激活值，速度最快。float32 最精确，也最慢。</translation>
        </message>
        <message>
            <source>Behaviour</source>
            <translation>行为</translation>
        </message>
        <message>
            <source>Break long lines of code instead of scrolling them sideways.</source>
            <translation>将过长的代码行换行显示，而不是横向滚动。</translation>
        </message>
        <message>
            <source>Chats on the disk</source>
            <translation>磁盘上的对话</translation>
        </message>
        <message>
            <source>Computation</source>
            <translation>计算</translation>
        </message>
        <message>
            <source>Compute device</source>
            <translation>计算设备</translation>
        </message>
        <message>
            <source>Context in memory</source>
            <translation>内存中的上下文</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Ctrl+Enter</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Enter</translation>
        </message>
        <message>
            <source>Font of code</source>
            <translation>代码字体</translation>
        </message>
        <message>
            <source>Font of messages</source>
            <translation>消息字体</translation>
        </message>
        <message>
            <source>Frees the memory when nothing was asked for this long. The next question loads the model again.</source>
            <translation>在这段时间内没有提问时释放内存。下次提问时会重新加载模型。</translation>
        </message>
        <message>
            <source>GiB</source>
            <translation>GiB</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>High contrast</source>
            <translation>高对比度</translation>
        </message>
        <message>
            <source>If it is faster</source>
            <translation>更快时</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Look once a day for a newer version. It is downloaded when you ask for it, and opens at the next start.</source>
            <translation>每天检查一次新版本。仅在您要求时下载，并在下次启动时打开。</translation>
        </message>
        <message>
            <source>Maximum RAM for the target's weights. The rest is streamed from the disk.</source>
            <translation>目标模型的权重最多占用的内存。其余从磁盘流式读取。</translation>
        </message>
        <message>
            <source>Maximum VRAM for the target's weights, streaming buffers included. The rest is streamed from RAM.</source>
            <translation>目标模型的权重最多占用的显存，包括流式缓冲区。其余从内存流式读取。</translation>
        </message>
        <message>
            <source>Memory limits</source>
            <translation>内存限制</translation>
        </message>
        <message>
            <source>Never</source>
            <translation>从不</translation>
        </message>
        <message>
            <source>No limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>Notifications</source>
            <translation>通知</translation>
        </message>
        <message>
            <source>Number format</source>
            <translation>数值格式</translation>
        </message>
        <message>
            <source>Number of threads that compute on the processor, at most one for each physical core. It changes the speed, never the text.</source>
            <translation>在处理器上计算的线程数，每个物理核心最多一个。只影响速度，不影响文本。</translation>
        </message>
        <message>
            <source>One per core</source>
            <translation>每核心一个</translation>
        </message>
        <message>
            <source>Other chats in RAM</source>
            <translation>内存中的其他对话</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <source>Processor helps the card</source>
            <translation>处理器协助显卡</translation>
        </message>
        <message>
            <source>RAM for the target</source>
            <translation>目标模型的内存</translation>
        </message>
        <message>
            <source>Reduce motion</source>
            <translation>减少动态效果</translation>
        </message>
        <message>
            <source>Same as desktop</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Send with</source>
            <translation>发送键</translation>
        </message>
        <message>
            <source>Show a notification when a long answer is complete and the window is not in front.</source>
            <translation>较长的回答完成且窗口不在前台时显示通知。</translation>
        </message>
        <message>
            <source>Text size</source>
            <translation>文字大小</translation>
        </message>
        <message>
            <source>The colours of the window.</source>
            <translation>窗口的颜色。</translation>
        </message>
        <message>
            <source>The device that computes the answers.</source>
            <translation>计算回答的设备。</translation>
        </message>
        <message>
            <source>The font of code in answers.</source>
            <translation>回答中代码的字体。</translation>
        </message>
        <message>
            <source>The font of questions and answers.</source>
            <translation>问题和回答的字体。</translation>
        </message>
        <message>
            <source>The language of the window. Models answer in the language you write in.</source>
            <translation>窗口的语言。模型会用您书写的语言回答。</translation>
        </message>
        <message>
            <source>The other key starts a new line.</source>
            <translation>另一个按键用于换行。</translation>
        </message>
        <message>
            <source>The size of all text; 100% is the desktop's. Ctrl and the wheel change it too.</source>
            <translation>所有文字的大小；100% 为桌面的大小。也可以用 Ctrl 加滚轮调整。</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>Threads</source>
            <translation>线程数</translation>
        </message>
        <message>
            <source>Turn animations off. The token tree shows only the end of each iteration.</source>
            <translation>关闭动画。词元树只显示每轮迭代的结果。</translation>
        </message>
        <message>
            <source>Unload when idle</source>
            <translation>空闲时卸载</translation>
        </message>
        <message>
            <source>Unpacked</source>
            <translation>已解包</translation>
        </message>
        <message>
            <source>Unpacked weights are faster but need more memory.</source>
            <translation>解包的权重更快，但需要更多内存。</translation>
        </message>
        <message>
            <source>Updates</source>
            <translation>更新</translation>
        </message>
        <message>
            <source>VRAM for the target</source>
            <translation>目标模型的显存</translation>
        </message>
        <message>
            <source>Weights in RAM need not all go to the graphics card in each pass: the processor can compute with a share of them, a little less precisely. Automatic: with the experts of a mixture, where that should be faster. Otherwise, loading measures whether it is.</source>
            <translation>内存中的权重不必每遍都全部送往显卡：处理器可以计算其中一部分，精度略低。自动：仅用于混合专家模型的专家，且预计更快时才使用。否则，加载时会测量这样是否更快。</translation>
        </message>
        <message>
            <source>Weights in memory</source>
            <translation>内存中的权重</translation>
        </message>
        <message>
            <source>What has been computed of chats is also kept on the disk, so that they are not read anew after a restart. It contains what you wrote; it is deleted with its chat.</source>
            <translation>把对话的计算结果也保留在磁盘上，重新启动后无需重新读取。其中包含您写的内容；删除对话时会一并删除。</translation>
        </message>
        <message>
            <source>What has been computed of other chats is kept in RAM, so that they are not read anew when you return to them. 0 keeps nothing.</source>
            <translation>把其他对话的计算结果保留在内存中，返回这些对话时无需重新读取。0 表示不保留。</translation>
        </message>
        <message>
            <source>Wrap code</source>
            <translation>代码自动换行</translation>
        </message>
    </context>
    <context>
        <name>race_picture</name>
        <message>
            <source>SpecExec Desktop · {} · {} · times from the first token, each answer alone</source>
            <translation>SpecExec Desktop · {} · {} · 从首个词元起计时，两个回答分别单独运行</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>tokens per pass</source>
            <translation>每遍词元数</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>词元/秒</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
    </context>
    <context>
        <name>race_words</name>
        <message>
            <source>Plain decoding</source>
            <translation>普通解码</translation>
        </message>
        <message>
            <source>Same text: no. After {} tokens, “{}” stands against “{}”.</source>
            <translation>文字相同：否。在 {} 个词元之后，“{}”与“{}”不同。</translation>
        </message>
        <message>
            <source>Same text: yes, all {} tokens.</source>
            <translation>文字相同：是，全部 {} 个词元。</translation>
        </message>
        <message>
            <source>Same text: yes, up to the {} tokens of the shorter answer.</source>
            <translation>文字相同：是，直到较短回答的 {} 个词元为止。</translation>
        </message>
        <message>
            <source>SpecExec</source>
            <translation>SpecExec</translation>
        </message>
        <message>
            <source>SpecExec was {} times as fast</source>
            <translation>SpecExec 的速度是普通解码的 {} 倍</translation>
        </message>
        <message>
            <source>The answers are too short to compare their speed.</source>
            <translation>回答太短，无法比较速度。</translation>
        </message>
        <message>
            <source>Two models, two texts.</source>
            <translation>两个模型，两段文字。</translation>
        </message>
        <message>
            <source>With 16-bit numbers, two tokens can be equally probable up to rounding, and a pass over a whole tree rounds differently from a pass over one token. Either choice is the model's own.</source>
            <translation>使用 16 位数时，两个词元的概率可能在舍入误差内相等，而对整棵树计算一遍与对单个词元计算一遍的舍入不同。两种选择都出自模型本身。</translation>
        </message>
        <message>
            <source>drafter: {}</source>
            <translation>起草方法：{}</translation>
        </message>
        <message>
            <source>drafter: {}, draft: {}</source>
            <translation>起草方法：{}，草稿模型：{}</translation>
        </message>
        <message>
            <source>one token per pass</source>
            <translation>每遍一个词元</translation>
        </message>
        <message>
            <source>{} was {} times as fast as {}</source>
            <translation>{} 的速度是 {} 倍（对比 {}）</translation>
        </message>
        <message>
            <source>{}: {} tokens in {} s</source>
            <translation>{}：{} 个词元，{} 秒</translation>
        </message>
    </context>
    <context>
        <name>remarks</name>
        <message>
            <source>An answer of the target ends with {}, one of the draft with {}.</source>
            <translation>结束回答的词元不同：目标模型为 {}，草稿模型为 {}。</translation>
        </message>
        <message>
            <source>Answers stay right, but more of the draft's guesses are wrong. Another draft may be faster.</source>
            <translation>回答仍然正确，但草稿模型的猜测会更常出错。换一个草稿模型可能更快。</translation>
        </message>
        <message>
            <source>Answers stay right. After an update of its driver, the graphics card is checked anew.</source>
            <translation>回答仍然正确。更新驱动程序后会重新检查显卡。</translation>
        </message>
        <message>
            <source>Ask in other words, or choose another model.</source>
            <translation>请换一种说法提问，或选择其他模型。</translation>
        </message>
        <message>
            <source>Close other programs to free memory, then load the model again.</source>
            <translation>请关闭其他程序以释放内存，然后重新加载模型。</translation>
        </message>
        <message>
            <source>Close other programs, or set a smaller “Other chats in RAM” in the settings.</source>
            <translation>请关闭其他程序，或在设置中把“内存中的其他对话”调小。</translation>
        </message>
        <message>
            <source>Close other programs, or set a smaller “RAM for the target” in the settings.</source>
            <translation>请关闭其他程序，或在设置中把“目标模型的内存”调小。</translation>
        </message>
        <message>
            <source>Draft and target took turns: the draft cannot go on while this target verifies on the graphics card.</source>
            <translation>草稿模型与目标模型轮流运行：此目标模型在显卡上验证时，草稿模型无法继续起草。</translation>
        </message>
        <message>
            <source>Draft and target took turns: the drafter {} keeps no tree beyond the verdict.</source>
            <translation>草稿模型与目标模型轮流运行：起草方法 {} 在验证结束后不保留词元树。</translation>
        </message>
        <message>
            <source>Draft and target took turns: the target is wholly in memory, so that it never waits for weights while the draft could go on.</source>
            <translation>草稿模型与目标模型轮流运行：目标模型完全在内存中，从不等待权重，因此草稿模型没有可继续起草的时机。</translation>
        </message>
        <message>
            <source>If its answers make no sense, choose another model.</source>
            <translation>如果它的回答没有意义，请选择其他模型。</translation>
        </message>
        <message>
            <source>If you do not need them, turn “Log-probabilities” off in this chat's settings.</source>
            <translation>如果不需要，请在此对话的设置中关闭“对数概率”。</translation>
        </message>
        <message>
            <source>It does without its draft heads.</source>
            <translation>不使用起草用的预测头。</translation>
        </message>
        <message>
            <source>It does without its own layer for drafts.</source>
            <translation>不使用自带的起草层。</translation>
        </message>
        <message>
            <source>It sees no pictures and hears no sound: describe them in words.</source>
            <translation>它看不到图片，也听不到声音：请用文字描述。</translation>
        </message>
        <message>
            <source>Its layers: {}. Its context: {} tokens.</source>
            <translation>模型的层：{}。上下文：{} 个词元。</translation>
        </message>
        <message>
            <source>Load another model, delete this one in the settings, then download it again.</source>
            <translation>请先加载其他模型，再在设置中删除该模型并重新下载。</translation>
        </message>
        <message>
            <source>Memory ran out, so other chats are read anew when you go on with them.</source>
            <translation>内存不足，因此继续其他对话时会重新读取其内容。</translation>
        </message>
        <message>
            <source>Memory ran out, so the model was loaded by a smaller plan.</source>
            <translation>内存不足，因此模型是按较小的方案加载的。</translation>
        </message>
        <message>
            <source>Only {} of RAM is free for weights, less than the limit of {}.</source>
            <translation>可用于权重的内存只有 {}，低于设定的上限 {}。</translation>
        </message>
        <message>
            <source>So the processor runs the model.</source>
            <translation>因此由处理器运行模型。</translation>
        </message>
        <message>
            <source>Special tokens differ: token {} is {} in the target and {} in the draft.</source>
            <translation>特殊词元不同：词元 {} 在目标模型中是 {}，在草稿模型中是 {}。</translation>
        </message>
        <message>
            <source>Special tokens that only one of the two models has: {}; the first is {}.</source>
            <translation>目标模型和草稿模型中只有一方拥有的特殊词元：{} 个。第一个是 {}。</translation>
        </message>
        <message>
            <source>The draft has no chat template: it was not trained on conversations.</source>
            <translation>草稿模型没有对话模板：它没有用对话训练过。</translation>
        </message>
        <message>
            <source>The draft splits text into different tokens than the target.</source>
            <translation>草稿模型把文本切分成与目标模型不同的词元。</translation>
        </message>
        <message>
            <source>The draft was trained with a different chat template than the target.</source>
            <translation>草稿模型训练时使用的对话模板与目标模型不同。</translation>
        </message>
        <message>
            <source>The graphics card cannot be used now.</source>
            <translation>显卡目前无法使用。</translation>
        </message>
        <message>
            <source>The graphics card's memory ran out, so the model was loaded by a smaller plan.</source>
            <translation>显存不足，因此模型是按较小的方案加载的。</translation>
        </message>
        <message>
            <source>The next load tries it again. If that does not help, restart the computer.</source>
            <translation>下次加载时会再次尝试。如果仍然不行，请重新启动计算机。</translation>
        </message>
        <message>
            <source>The server told the probabilities of {} of {} tokens only.</source>
            <translation>服务器只给出了 {1} 个词元中 {0} 个的概率。</translation>
        </message>
        <message>
            <source>The server withheld a part of the answer.</source>
            <translation>服务器没有给出回答的一部分。</translation>
        </message>
        <message>
            <source>The target has no chat template, but the draft was trained with one.</source>
            <translation>目标模型没有对话模板，但草稿模型是用对话模板训练的。</translation>
        </message>
        <message>
            <source>The text is the same. There is nothing to do.</source>
            <translation>回答的文本相同，无需任何操作。</translation>
        </message>
        <message>
            <source>Tokens that only one of the two models treats as special: {}; the first is {}.</source>
            <translation>目标模型和草稿模型中只有一方视为特殊的词元：{} 个。第一个是 {}。</translation>
        </message>
        <message>
            <source>Update the driver of the graphics card: the next load then checks the card anew.</source>
            <translation>请更新显卡的驱动程序：下次加载时会重新检查显卡。</translation>
        </message>
        <message>
            <source>no token</source>
            <translation>无词元</translation>
        </message>
        <message>
            <source>{} has an architecture that is not listed, {}. A small random model of it was tested, and computes what it should.</source>
            <translation>{0} 的架构 {1} 不在列表中。已用同一架构的小型随机模型测试，计算结果正确。</translation>
        </message>
        <message>
            <source>{} in RAM</source>
            <translation>内存中 {} 层</translation>
        </message>
        <message>
            <source>{} in VRAM</source>
            <translation>显存中 {} 层</translation>
        </message>
        <message>
            <source>{} is probably damaged: in {} of its {} weights, such as {}, all numbers are the same. Its answers may make no sense.</source>
            <translation>{0} 可能已损坏：它的 {2} 个权重中有 {1} 个（例如 {3}）的所有数值都相同。回答可能没有意义。</translation>
        </message>
        <message>
            <source>{} on the disk</source>
            <translation>磁盘上 {} 层</translation>
        </message>
        <message>
            <source>{} runs as a model of text: its encoder of images or sound is not loaded.</source>
            <translation>{} 作为文本模型运行：不加载其图像或声音编码器。</translation>
        </message>
        <message>
            <source>“Drafter” in this chat's settings offers others.</source>
            <translation>此对话设置中的“起草方法”提供其他选择。</translation>
        </message>
    </context>
    <context>
        <name>run_figures</name>
        <message>
            <source>Computing the target took the most time: the compute device is the bottleneck.</source>
            <translation>目标模型的计算用时最多：瓶颈在计算设备。</translation>
        </message>
        <message>
            <source>Drafting took the most time: a smaller budget or a smaller draft may be faster.</source>
            <translation>起草用时最多：减小预算或换用更小的草稿模型也许更快。</translation>
        </message>
        <message>
            <source>Most in layer {} ({} %), least in layer {} ({} %).</source>
            <translation>第 {} 层最多（{} %），第 {} 层最少（{} %）。</translation>
        </message>
        <message>
            <source>No drafter is in use, so one pass of the target produced 1 token.</source>
            <translation>未使用起草方法，因此目标模型每一遍生成 1 个词元。</translation>
        </message>
        <message>
            <source>Of these, {} per token had to be read from the disk.</source>
            <translation>其中每个词元有 {} 需要从磁盘读取。</translation>
        </message>
        <message>
            <source>One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting for weights, {} s for the rest.</source>
            <translation>一轮迭代用时 {} 秒：起草 {} 秒，目标模型计算 {} 秒，等待权重 {} 秒，其余 {} 秒。</translation>
        </message>
        <message>
            <source>One pass of the target produced {} tokens on average, because it verifies a whole tree of guesses at once. Plain decoding produces 1 token per pass.</source>
            <translation>目标模型一遍验证整棵猜测树，因此平均每遍得到 {} 个词元。普通解码每遍得到 1 个词元。</translation>
        </message>
        <message>
            <source>One pass of the target produced {} tokens on average, hardly more than plain decoding: few guesses were right, or guessing ahead does not pay with this model on this machine and is only tried now and then.</source>
            <translation>目标模型每一遍平均生成 {} 个词元，与普通解码相差无几：猜对的很少，或者在这台电脑上用这个模型预先猜测并不划算，因此只偶尔尝试。</translation>
        </message>
        <message>
            <source>PCIe</source>
            <translation>PCIe</translation>
        </message>
        <message>
            <source>Plain decoding with this model was measured here: {} tokens/s. This answer was {} times as fast.</source>
            <translation>本机测得此模型的普通解码速度：{} 词元/秒。此回答的速度是它的 {} 倍。</translation>
        </message>
        <message>
            <source>Share of the chosen experts by which the processor multiplied, layer by layer: {}</source>
            <translation>处理器所乘的选中专家的比例（逐层）：{}</translation>
        </message>
        <message>
            <source>The answer was too short to measure its speed.</source>
            <translation>回答太短，无法测量其速度。</translation>
        </message>
        <message>
            <source>The processor multiplied by {} % of them in RAM.</source>
            <translation>其中 {} % 由处理器在内存中相乘。</translation>
        </message>
        <message>
            <source>The speed-up over plain decoding is shown once plain decoding has been measured on this machine.</source>
            <translation>在本机测量普通解码之后，会显示比普通解码快多少。</translation>
        </message>
        <message>
            <source>Waiting for weights from the disk took the most time: more memory would help most.</source>
            <translation>等待从磁盘读取的权重用时最多：增加内存最有帮助。</translation>
        </message>
        <message>
            <source>Waiting for weights over PCIe took the most time: more VRAM would help most.</source>
            <translation>等待经 PCIe 传来的权重用时最多：增加显存最有帮助。</translation>
        </message>
        <message>
            <source>disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <source>drafted {} s meanwhile</source>
            <translation>其间起草 {} 秒</translation>
        </message>
        <message>
            <source>iteration {}: {} of {} accepted</source>
            <translation>第 {} 轮迭代：接受 {} / {}</translation>
        </message>
        <message>
            <source>waited {} s for PCIe</source>
            <translation>等待 PCIe {} 秒</translation>
        </message>
        <message>
            <source>waited {} s for the disk</source>
            <translation>等待磁盘 {} 秒</translation>
        </message>
        <message>
            <source>{} % of the experts that the model used ({} of {}) were in memory; {} were read from the disk per token of the answer, reading the prompt included.</source>
            <translation>模型用到的专家有 {} %（{} / {}）在内存中；回答的每个词元从磁盘读取 {}，包括读提示词时的读取量。</translation>
        </message>
        <message>
            <source>{} % of the experts that the model used ({} of {}) were on the graphics card; {} were copied to it per token of the answer, reading the prompt included.</source>
            <translation>模型用到的专家有 {} %（{} / {}）在显卡上；回答的每个词元有 {} 被复制到显卡，包括读提示词时的复制量。</translation>
        </message>
        <message>
            <source>{} % of those copied to it were in RAM when needed, and {} % on their way there.</source>
            <translation>复制到显卡的专家在需要时有 {} % 在内存（RAM）中，{} % 正在读入。</translation>
        </message>
        <message>
            <source>{} % of those read ahead were the right ones.</source>
            <translation>预先读取的专家中有 {} % 是对的。</translation>
        </message>
        <message>
            <source>{} % were still on their way when the model chose them.</source>
            <translation>{} % 在模型选择时仍在读取途中。</translation>
        </message>
        <message>
            <source>{} nodes from the pass before</source>
            <translation>{} 个节点来自上一遍</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
        <message>
            <source>{} tokens per pass ÷ {} s = {} tokens/s.</source>
            <translation>每遍 {} 个词元 ÷ {} 秒 = {} 词元/秒。</translation>
        </message>
        <message>
            <source>{} tokens per pass, {} × plain: see why</source>
            <translation>每遍 {} 个词元，速度是普通方式的 {} 倍：查看原因</translation>
        </message>
        <message>
            <source>{} tokens per pass: see why</source>
            <translation>每遍 {} 个词元：查看原因</translation>
        </message>
        <message>
            <source>{}: {} GB/s (limit not measured: run specexec doctor)</source>
            <translation>{}：{} GB/s（上限未测量：请运行 specexec doctor）</translation>
        </message>
        <message>
            <source>{}: {} of {} GB/s</source>
            <translation>{}：{} / {} GB/s</translation>
        </message>
    </context>
    <context>
        <name>save_dialog</name>
        <message>
            <source>Replace</source>
            <translation>替换</translation>
        </message>
        <message>
            <source>{} already exists. Replace it?</source>
            <translation>{} 已存在。要替换吗？</translation>
        </message>
    </context>
    <context>
        <name>server_options</name>
        <message>
            <source>Also other machines, at {}</source>
            <translation>也包括其他计算机，位于 {}</translation>
        </message>
        <message>
            <source>Only programs that give the key are answered. Without it, every program on this machine is.</source>
            <translation>仅回答提供密钥的程序。不要求密钥时，回答本机的所有程序。</translation>
        </message>
        <message>
            <source>Options</source>
            <translation>选项</translation>
        </message>
        <message>
            <source>Other machines need the key, and what they send is not encrypted: choose this in networks that you trust only.</source>
            <translation>其他计算机需要密钥，且其发送的内容未加密：请仅在您信任的网络中选择。</translation>
        </message>
        <message>
            <source>Port</source>
            <translation>端口</translation>
        </message>
        <message>
            <source>Require a key</source>
            <translation>要求密钥</translation>
        </message>
        <message>
            <source>Start the server whenever the window is opened.</source>
            <translation>每次打开窗口时启动服务器。</translation>
        </message>
        <message>
            <source>Start with the window</source>
            <translation>随窗口启动</translation>
        </message>
        <message>
            <source>The number at the end of the address. Programs that use the server must know it.</source>
            <translation>地址末尾的数字。使用服务器的程序必须知道它。</translation>
        </message>
        <message>
            <source>This machine only</source>
            <translation>仅本机</translation>
        </message>
        <message>
            <source>Web pages</source>
            <translation>网页</translation>
        </message>
        <message>
            <source>Web pages that may ask the server, such as http://localhost:3000. One per line.</source>
            <translation>可以向服务器请求的网页，例如 http://localhost:3000。每行一个。</translation>
        </message>
        <message>
            <source>Who can reach it</source>
            <translation>可访问范围</translation>
        </message>
    </context>
    <context>
        <name>shortcuts</name>
        <message>
            <source>Answer the last question again</source>
            <translation>重新回答最后一个问题</translation>
        </message>
        <message>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>Close the window</source>
            <translation>关闭窗口</translation>
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation>复制最后一个回答</translation>
        </message>
        <message>
            <source>Delete the chat or folder</source>
            <translation>删除对话或文件夹</translation>
        </message>
        <message>
            <source>Duplicate the chat</source>
            <translation>复制对话</translation>
        </message>
        <message>
            <source>Edit the last question</source>
            <translation>编辑最后一个问题</translation>
        </message>
        <message>
            <source>Export the chat or folder</source>
            <translation>导出对话或文件夹</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>在此对话中查找</translation>
        </message>
        <message>
            <source>Go to the input field</source>
            <translation>转到输入框</translation>
        </message>
        <message>
            <source>Go to the list of chats</source>
            <translation>转到对话列表</translation>
        </message>
        <message>
            <source>Input field</source>
            <translation>输入框</translation>
        </message>
        <message>
            <source>Larger text</source>
            <translation>放大文字</translation>
        </message>
        <message>
            <source>List of chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>Next chat in the list</source>
            <translation>列表中的下一个对话</translation>
        </message>
        <message>
            <source>Next match</source>
            <translation>下一个匹配项</translation>
        </message>
        <message>
            <source>Next version</source>
            <translation>下一版本</translation>
        </message>
        <message>
            <source>Open another window</source>
            <translation>打开另一个窗口</translation>
        </message>
        <message>
            <source>Open the chat in a new window</source>
            <translation>在新窗口中打开对话</translation>
        </message>
        <message>
            <source>Pin or unpin the chat</source>
            <translation>置顶或取消置顶对话</translation>
        </message>
        <message>
            <source>Previous chat in the list</source>
            <translation>列表中的上一个对话</translation>
        </message>
        <message>
            <source>Previous match</source>
            <translation>上一个匹配项</translation>
        </message>
        <message>
            <source>Previous version</source>
            <translation>上一版本</translation>
        </message>
        <message>
            <source>Print the chat</source>
            <translation>打印对话</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>Race: plain decoding against SpecExec, or two models</source>
            <translation>比赛：普通解码对 SpecExec，或两个模型</translation>
        </message>
        <message>
            <source>Rename the chat or folder</source>
            <translation>重命名对话或文件夹</translation>
        </message>
        <message>
            <source>Scroll the chat</source>
            <translation>滚动对话</translation>
        </message>
        <message>
            <source>Search all chats</source>
            <translation>搜索所有对话</translation>
        </message>
        <message>
            <source>Send the question</source>
            <translation>发送问题</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Show all keyboard shortcuts</source>
            <translation>显示所有键盘快捷键</translation>
        </message>
        <message>
            <source>Show or hide the list of chats</source>
            <translation>显示或隐藏对话列表</translation>
        </message>
        <message>
            <source>Show or hide the token tree</source>
            <translation>显示或隐藏词元树</translation>
        </message>
        <message>
            <source>Smaller text</source>
            <translation>缩小文字</translation>
        </message>
        <message>
            <source>Start a new chat</source>
            <translation>开始新对话</translation>
        </message>
        <message>
            <source>Start a new line</source>
            <translation>换行</translation>
        </message>
        <message>
            <source>Stop the answer and keep its text, or cancel loading</source>
            <translation>停止回答并保留其文本，或取消加载</translation>
        </message>
        <message>
            <source>Text in its usual size</source>
            <translation>恢复默认文字大小</translation>
        </message>
        <message>
            <source>Undo the last action</source>
            <translation>撤销上一步操作</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>窗口</translation>
        </message>
    </context>
    <context>
        <name>startup</name>
        <message>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>Show the folder</source>
            <translation>显示文件夹</translation>
        </message>
        <message>
            <source>Something went wrong in the window.</source>
            <translation>窗口出了问题。</translation>
        </message>
        <message>
            <source>Start with the default settings</source>
            <translation>以默认设置启动</translation>
        </message>
        <message>
            <source>Start without the chats</source>
            <translation>不加载对话启动</translation>
        </message>
        <message>
            <source>The chats cannot be opened.</source>
            <translation>无法打开对话。</translation>
        </message>
        <message>
            <source>The program cannot start.</source>
            <translation>无法启动程序。</translation>
        </message>
        <message>
            <source>The settings cannot be opened.</source>
            <translation>无法打开设置。</translation>
        </message>
        <message>
            <source>The window cannot be opened.</source>
            <translation>无法打开窗口。</translation>
        </message>
        <message>
            <source>You can continue. If it happens again, see the log: {}</source>
            <translation>您可以继续使用。如果再次发生，请查看日志：{}</translation>
        </message>
    </context>
    <context>
        <name>tint</name>
        <message>
            <source>iteration {}</source>
            <translation>第 {} 轮迭代</translation>
        </message>
        <message>
            <source>the target's own token</source>
            <translation>目标模型自己的词元</translation>
        </message>
    </context>
    <context>
        <name>told</name>
        <message>
            <source>Accepted by position: {}</source>
            <translation>各位置接受率：{}</translation>
        </message>
        <message>
            <source>It answers at {}.</source>
            <translation>它在 {} 回答。</translation>
        </message>
        <message>
            <source>It drafted no tokens.</source>
            <translation>它没有起草词元。</translation>
        </message>
        <message>
            <source>It says nothing about speculation.</source>
            <translation>它没有提供推测解码的信息。</translation>
        </message>
        <message>
            <source>On average, {} drafted tokens were accepted in each of {} steps.</source>
            <translation>平均接受 {} 个起草词元，共 {} 步。</translation>
        </message>
        <message>
            <source>Step {}: {} of {} drafted tokens accepted.</source>
            <translation>第 {} 步：接受 {} 个，共起草 {} 个词元。</translation>
        </message>
        <message>
            <source>The answer came from {} with {} tokens/s, the way through the network included.</source>
            <translation>回答来自 {}，速度为 {} 词元/秒（包括网络传输）。</translation>
        </message>
        <message>
            <source>These are counts of the whole server, in which answers to others may be contained.</source>
            <translation>这些是整个服务器的计数，可能包含给其他人的回答。</translation>
        </message>
        <message>
            <source>This engine does not tell its tree.</source>
            <translation>此引擎不提供其树。</translation>
        </message>
        <message>
            <source>Tokens per pass: {}.</source>
            <translation>每次前向的词元数：{}。</translation>
        </message>
        <message>
            <source>{} of {} drafted tokens were accepted ({} %).</source>
            <translation>接受了 {} 个，共起草 {} 个词元（{} %）。</translation>
        </message>
        <message>
            <source>{}: {} %</source>
            <translation>{}：{} %</translation>
        </message>
    </context>
    <context>
        <name>transfer</name>
        <message>
            <source>All files (*)</source>
            <translation>所有文件 (*)</translation>
        </message>
        <message>
            <source>Backups (*.sqlite)</source>
            <translation>备份 (*.sqlite)</translation>
        </message>
        <message>
            <source>Bring back chats from a backup</source>
            <translation>从备份找回对话</translation>
        </message>
        <message>
            <source>Chats (*.specexec-chat *.json *.zip)</source>
            <translation>对话 (*.specexec-chat *.json *.zip)</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Import chats from SpecExec Desktop or ChatGPT</source>
            <translation>导入 SpecExec Desktop 或 ChatGPT 的对话</translation>
        </message>
        <message>
            <source>JSON, with every version (*.json)</source>
            <translation>JSON，含所有版本 (*.json)</translation>
        </message>
        <message>
            <source>Markdown (*.md)</source>
            <translation>Markdown (*.md)</translation>
        </message>
        <message>
            <source>PDF (*.pdf)</source>
            <translation>PDF (*.pdf)</translation>
        </message>
        <message>
            <source>Plain text (*.txt)</source>
            <translation>纯文本 (*.txt)</translation>
        </message>
        <message>
            <source>Save as PDF</source>
            <translation>另存为 PDF</translation>
        </message>
        <message>
            <source>SpecExec Desktop chat, with every version (*.specexec-chat)</source>
            <translation>SpecExec Desktop 对话，含所有版本 (*.specexec-chat)</translation>
        </message>
    </context>
    <context>
        <name>wizard</name>
        <message>
            <source>A mixture of experts: it answers faster here than the largest other model.</source>
            <translation>专家混合模型：在这台电脑上，它比其他最大的模型回答得更快。</translation>
        </message>
        <message>
            <source>About {} tokens/s, estimated</source>
            <translation>约 {} 词元/秒，估计</translation>
        </message>
        <message>
            <source>About {} tokens/s, first word after {}.</source>
            <translation>约 {} 词元/秒，{}后出现第一个词。</translation>
        </message>
        <message>
            <source>After a long question, the first word appears after about {}.</source>
            <translation>提出长问题后，约 {} 后出现第一个字。</translation>
        </message>
        <message>
            <source>Card and memory</source>
            <translation>显卡和内存</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>It fits in memory.</source>
            <translation>内存可以容纳。</translation>
        </message>
        <message>
            <source>It fits on the graphics card.</source>
            <translation>显卡可以容纳。</translation>
        </message>
        <message>
            <source>It is larger than memory, so part of it is read from the disk repeatedly.</source>
            <translation>它大于内存，因此一部分要反复从磁盘读取。</translation>
        </message>
        <message>
            <source>It is split between the graphics card and memory.</source>
            <translation>分布在显卡和内存上。</translation>
        </message>
        <message>
            <source>Its architecture was tested with real weights.</source>
            <translation>其架构已用真实权重测试过。</translation>
        </message>
        <message>
            <source>Its architecture was tested with tiny random models only.</source>
            <translation>其架构仅用极小的随机模型测试过。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Not even the smallest model runs on this machine.</source>
            <translation>本机连最小的模型也无法运行。</translation>
        </message>
        <message>
            <source>Streams from disk</source>
            <translation>从磁盘流式读取</translation>
        </message>
        <message>
            <source>The fastest model for this machine; larger ones would keep you waiting.</source>
            <translation>这是本机上最快的模型；更大的模型会让您久等。</translation>
        </message>
        <message>
            <source>The largest model that reliably answers soon and at reading speed on this machine, without reading from the disk.</source>
            <translation>这是在本机上无需读取磁盘即可可靠地迅速开始并以阅读速度回答的最大模型。</translation>
        </message>
        <message>
            <source>The processor computes with some experts where they lie in memory, beside the graphics card.</source>
            <translation>一部分专家留在内存中，由处理器就地计算，与显卡同时进行。</translation>
        </message>
        <message>
            <source>The processor computes with some weights where they lie in memory, beside the graphics card.</source>
            <translation>一部分权重留在内存中，由处理器就地计算，与显卡同时进行。</translation>
        </message>
        <message>
            <source>Will not run</source>
            <translation>无法运行</translation>
        </message>
        <message>
            <source>Will not run: {} is needed.</source>
            <translation>无法运行：需要 {}。</translation>
        </message>
        <message>
            <source>as fast as you read</source>
            <translation>与您的阅读速度相当</translation>
        </message>
        <message>
            <source>more memory</source>
            <translation>更多内存</translation>
        </message>
        <message>
            <source>much faster than you read</source>
            <translation>远快于您的阅读速度</translation>
        </message>
        <message>
            <source>see the model's page</source>
            <translation>见模型页面</translation>
        </message>
        <message>
            <source>slow: about {} for a short answer</source>
            <translation>较慢：简短的回答约需 {}</translation>
        </message>
        <message>
            <source>slower than you read, but usable for a conversation</source>
            <translation>慢于您的阅读速度，但可用于对话</translation>
        </message>
        <message>
            <source>{} + draft {}</source>
            <translation>{} + 草稿模型 {}</translation>
        </message>
        <message>
            <source>{} has its maker's draft, {}, on this machine. The estimate is without that draft.</source>
            <translation>{} 的开发者提供的草稿模型 {} 已在本机。估计值未计入该草稿模型。</translation>
        </message>
        <message>
            <source>{} is downloaded with its maker's draft, {}. The estimate is without that draft.</source>
            <translation>{} 将与其开发者提供的草稿模型 {} 一同下载。估计值未计入该草稿模型。</translation>
        </message>
        <message>
            <source>{} is on this machine; its maker's draft, {}, is downloaded. The estimate is without that draft.</source>
            <translation>{} 已在本机，将下载其开发者提供的草稿模型 {}。估计值未计入该草稿模型。</translation>
        </message>
        <message>
            <source>{} · account required</source>
            <translation>{} · 需要账号</translation>
        </message>
        <message>
            <source>{}, its maker's draft for this model, is left out: {}</source>
            <translation>未包括开发者为此模型提供的草稿模型 {}：{}</translation>
        </message>
        <message>
            <source>{}: {}.</source>
            <translation>{}：{}。</translation>
        </message>
    </context>
    <context>
        <name>words</name>
        <message>
            <source>As the model does by itself</source>
            <translation>按模型自身的方式</translation>
        </message>
        <message>
            <source>End</source>
            <translation>结束原因</translation>
        </message>
        <message>
            <source>First token after</source>
            <translation>首个词元用时</translation>
        </message>
        <message>
            <source>Fitting the model to this machine</source>
            <translation>正在为这台机器安排模型</translation>
        </message>
        <message>
            <source>High</source>
            <translation>高</translation>
        </message>
        <message>
            <source>Loading the model</source>
            <translation>正在加载模型</translation>
        </message>
        <message>
            <source>Loading the small model that guesses ahead</source>
            <translation>正在加载用于预先猜测的小模型</translation>
        </message>
        <message>
            <source>Low</source>
            <translation>低</translation>
        </message>
        <message>
            <source>Maximum</source>
            <translation>最高</translation>
        </message>
        <message>
            <source>Medium</source>
            <translation>中</translation>
        </message>
        <message>
            <source>Minimal</source>
            <translation>最低</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>None (plain decoding)</source>
            <translation>无（普通解码）</translation>
        </message>
        <message>
            <source>Off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>On</source>
            <translation>开</translation>
        </message>
        <message>
            <source>Preparing the model; this takes longer the first time</source>
            <translation>正在准备模型；首次需要更长时间</translation>
        </message>
        <message>
            <source>Preparing your graphics card</source>
            <translation>正在准备您的显卡</translation>
        </message>
        <message>
            <source>Prompt lookup</source>
            <translation>提示词查找</translation>
        </message>
        <message>
            <source>Reading the model files</source>
            <translation>正在读取模型文件</translation>
        </message>
        <message>
            <source>Reading the vocabulary</source>
            <translation>正在读取词汇表</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>Several, merged</source>
            <translation>多种方法合并</translation>
        </message>
        <message>
            <source>Speculative sampling</source>
            <translation>推测采样</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>Starting the libraries</source>
            <translation>正在启动运行库</translation>
        </message>
        <message>
            <source>Thought</source>
            <translation>思考</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>Tokens per pass</source>
            <translation>每遍词元数</translation>
        </message>
        <message>
            <source>Very high</source>
            <translation>很高</translation>
        </message>
        <message>
            <source>complete</source>
            <translation>完成</translation>
        </message>
        <message>
            <source>context {} tokens</source>
            <translation>上下文 {} 词元</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>草稿模型 {}</translation>
        </message>
        <message>
            <source>ended at a stop string</source>
            <translation>在停止字符串处结束</translation>
        </message>
        <message>
            <source>ended at the token limit</source>
            <translation>达到词元上限而结束</translation>
        </message>
        <message>
            <source>incomplete</source>
            <translation>未完成</translation>
        </message>
        <message>
            <source>it repeats itself</source>
            <translation>内容重复</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>stopped by you</source>
            <translation>已由您停止</translation>
        </message>
        <message>
            <source>the context is full; start a new chat (Ctrl+N)</source>
            <translation>上下文已满；请开始新对话 (Ctrl+N)</translation>
        </message>
        <message>
            <source>{} at {}</source>
            <translation>{}（{}）</translation>
        </message>
        <message>
            <source>{} days</source>
            <translation>{} 天</translation>
        </message>
        <message>
            <source>{} h</source>
            <translation>{} 小时</translation>
        </message>
        <message>
            <source>{} heads</source>
            <translation>{} 预测头</translation>
        </message>
        <message>
            <source>{} min</source>
            <translation>{} 分钟</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
        <message>
            <source>{} tokens in {}</source>
            <translation>{} 个词元，{}</translation>
        </message>
        <message>
            <source>{} tokens/s</source>
            <translation>{} 词元/秒</translation>
        </message>
        <message>
            <source>{} with {}</source>
            <translation>{} + {}</translation>
        </message>
        <message>
            <source>{}: {} of {}</source>
            <translation>{}：{} / {}</translation>
        </message>
    </context>
</TS>
