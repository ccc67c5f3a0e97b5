<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>AboutPage</name>
        <message>
            <source>Chats with a model larger than your graphics card. Free software under the Apache License 2.0. Everything runs on this machine: nothing you type leaves it, and nothing is counted or reported. The only connections are the downloads you ask for and, where you turned it on, the question whether there is a newer version.</source>
            <translation>与大于显卡容量的模型对话。本软件是采用 Apache License 2.0 的自由软件。一切都在本机运行：您输入的内容不会离开本机，也不做任何统计或上报。仅有的网络连接是您要求的下载，以及在您开启后查询是否有新版本。</translation>
        </message>
        <message>
            <source>Logs</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>Made with</source>
            <translation>所用组件</translation>
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
            <source>Check and go on</source>
            <translation>检查并继续</translation>
        </message>
        <message>
            <source>Checking…</source>
            <translation>正在检查…</translation>
        </message>
        <message>
            <source>It proves to the Hub that it is you. A token of the kind “Read” will do. It is kept in this system's keyring, and sent to the Hub only.</source>
            <translation>它向 Hub 证明是您本人。“Read”类型的令牌即可。它保存在本系统的密钥环中，且只发送给 Hub。</translation>
        </message>
        <message>
            <source>Log in on the model's page, make a free account if you have none, and accept there.</source>
            <translation>在模型页面登录（没有账号可免费注册），并在那里接受。</translation>
        </message>
        <message>
            <source>Make an access token</source>
            <translation>创建访问令牌</translation>
        </message>
        <message>
            <source>Open the model's page</source>
            <translation>打开模型页面</translation>
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
            <source>This model asks for your consent</source>
            <translation>此模型需要您同意其条款</translation>
        </message>
    </context>
    <context>
        <name>AnswerView</name>
        <message>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <source>Waiting for the model…</source>
            <translation>正在等待模型…</translation>
        </message>
    </context>
    <context>
        <name>BackendsView</name>
        <message>
            <source>What computes the answers</source>
            <translation>由什么计算回答</translation>
        </message>
    </context>
    <context>
        <name>Catalogue</name>
        <message>
            <source>Already here</source>
            <translation>本机已有</translation>
        </message>
        <message>
            <source>Also the slower ways to run the same model</source>
            <translation>也包括运行同一模型的较慢方式</translation>
        </message>
        <message>
            <source>By name</source>
            <translation>按名称</translation>
        </message>
        <message>
            <source>Every form and draft</source>
            <translation>所有格式和草稿模型</translation>
        </message>
        <message>
            <source>Fastest first</source>
            <translation>最快优先</translation>
        </message>
        <message>
            <source>Find in the list</source>
            <translation>在列表中查找</translation>
        </message>
        <message>
            <source>Largest download first</source>
            <translation>下载最大优先</translation>
        </message>
        <message>
            <source>No model of the list is like that.</source>
            <translation>列表中没有这样的模型。</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>排序</translation>
        </message>
        <message>
            <source>Recommended first</source>
            <translation>推荐优先</translation>
        </message>
        <message>
            <source>Runs anywhere</source>
            <translation>任意位置</translation>
        </message>
        <message>
            <source>Smallest download first</source>
            <translation>下载最小优先</translation>
        </message>
        <message>
            <source>Where it runs</source>
            <translation>在哪里运行</translation>
        </message>
    </context>
    <context>
        <name>Changes</name>
        <message>
            <source>Deleted the folder “{}”; its chats were kept</source>
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
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Delete the folder, keep its chats</source>
            <translation>删除文件夹，保留其中对话</translation>
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
        <message>
            <source>What to do with the chat</source>
            <translation>对此对话的操作</translation>
        </message>
    </context>
    <context>
        <name>ChatRow</name>
        <message>
            <source>Automatic title</source>
            <translation>自动标题</translation>
        </message>
        <message>
            <source>Name of the folder</source>
            <translation>文件夹名称</translation>
        </message>
        <message>
            <source>Title of the chat</source>
            <translation>对话标题</translation>
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
            <source>{} (not here)</source>
            <translation>{}（此处没有）</translation>
        </message>
    </context>
    <context>
        <name>ChoosePage</name>
        <message>
            <source>Any model from Hugging Face</source>
            <translation>Hugging Face 上的任意模型</translation>
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
            <source>Get it ({})</source>
            <translation>下载 ({})</translation>
        </message>
        <message>
            <source>Larger models know more and answer more slowly. If you are not sure, take the one that is recommended; you can get others at any time.</source>
            <translation>更大的模型知道得更多，回答得更慢。拿不准就选推荐的；其他模型随时都可以下载。</translation>
        </message>
        <message>
            <source>Load it now</source>
            <translation>立即加载</translation>
        </message>
        <message>
            <source>Models that fit together</source>
            <translation>相互匹配的模型</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>下一步</translation>
        </message>
        <message>
            <source>Working out what runs here</source>
            <translation>正在计算本机能运行什么</translation>
        </message>
        <message>
            <source>Working out what runs on this machine, and how fast…</source>
            <translation>正在计算本机能运行什么、速度如何…</translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
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
            <source>Message — Ctrl+Enter sends, Enter breaks the line</source>
            <translation>消息 — Ctrl+Enter 发送，Enter 换行</translation>
        </message>
        <message>
            <source>Message — Enter sends, Shift+Enter breaks the line</source>
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
        <name>Decoration</name>
        <message>
            <source>Code</source>
            <translation>代码</translation>
        </message>
    </context>
    <context>
        <name>DownloadIndicator</name>
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
            <source>You may close this window and chat: downloads go on, and the button at the head of the chat brings you back. If the program ends, they go on where they were when it starts again.</source>
            <translation>您可以关闭此窗口去对话：下载会继续进行，对话顶部的按钮可带您回到这里。如果程序退出，下次启动时会从中断处继续。</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>Ask the model something</source>
            <translation>向模型提问吧</translation>
        </message>
        <message>
            <source>Everything runs on this machine, and nothing you type leaves it. A drafter guesses many ways the answer may go on; the target checks them all in one pass and keeps what it would have said itself. The panel on the right shows the guesses as a token tree.</source>
            <translation>一切都在本机运行，您输入的内容不会离开本机。起草方法会猜测回答的多种后续，目标模型用一遍全部检查，只保留它自己本来会说的内容。右侧面板以词元树的形式显示这些猜测。</translation>
        </message>
        <message>
            <source>Explain speculative decoding in three sentences</source>
            <translation>用三句话解释推测解码</translation>
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
            <source>Write a Python function that finds the longest common prefix of a list of strings</source>
            <translation>写一个 Python 函数，找出一组字符串的最长公共前缀</translation>
        </message>
    </context>
    <context>
        <name>EnginePage</name>
        <message>
            <source>Change the backend</source>
            <translation>更换后端</translation>
        </message>
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
            <source>The model in use is unloaded meanwhile. The engine that you have stays in use until the new one has answered.</source>
            <translation>其间会卸载正在使用的模型。在新引擎作出回答之前，继续使用现有的引擎。</translation>
        </message>
        <message>
            <source>missing: repair it</source>
            <translation>缺失：请修复</translation>
        </message>
        <message>
            <source>of an earlier version: repair it</source>
            <translation>属于较早的版本：请修复</translation>
        </message>
    </context>
    <context>
        <name>Foot</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>Find an option</source>
            <translation>查找选项</translation>
        </message>
        <message>
            <source>No option is called so.</source>
            <translation>没有这样的选项。</translation>
        </message>
    </context>
    <context>
        <name>Found</name>
        <message>
            <source>Chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>Last used</source>
            <translation>上次使用</translation>
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
            <source>You</source>
            <translation>您</translation>
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>Begin a new chat (Ctrl+N)</source>
            <translation>开始新对话 (Ctrl+N)</translation>
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
            <source>Export all chats…</source>
            <translation>导出所有对话…</translation>
        </message>
        <message>
            <source>Folders, import, export, keys, logs</source>
            <translation>文件夹、导入、导出、按键、日志</translation>
        </message>
        <message>
            <source>Import chats…</source>
            <translation>导入对话…</translation>
        </message>
        <message>
            <source>Keyboard…</source>
            <translation>键盘…</translation>
        </message>
        <message>
            <source>Model: {}</source>
            <translation>模型：{}</translation>
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
            <source>Open the logs</source>
            <translation>打开日志</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>Search all chats (Ctrl+K)</source>
            <translation>搜索所有对话 (Ctrl+K)</translation>
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
            <source>Token tree</source>
            <translation>词元树</translation>
        </message>
        <message>
            <source>Token tree (Ctrl+T)</source>
            <translation>词元树 (Ctrl+T)</translation>
        </message>
        <message>
            <source>{}: choose another model</source>
            <translation>{}：选择其他模型</translation>
        </message>
    </context>
    <context>
        <name>Histogram</name>
        <message>
            <source>Accepted lengths</source>
            <translation>接受长度</translation>
        </message>
        <message>
            <source>{} accepted: {} times</source>
            <translation>接受 {} 个：{} 次</translation>
        </message>
    </context>
    <context>
        <name>HubSearch</name>
        <message>
            <source>Asking the Hub</source>
            <translation>正在查询 Hub</translation>
        </message>
        <message>
            <source>Choose one and press Enter.</source>
            <translation>选择一个并按 Enter。</translation>
        </message>
        <message>
            <source>Find</source>
            <translation>查找</translation>
        </message>
        <message>
            <source>Models that were found</source>
            <translation>找到的模型</translation>
        </message>
        <message>
            <source>Name or address of a model, or words to search for</source>
            <translation>模型的名称或网址，或搜索词</translation>
        </message>
        <message>
            <source>Paste the name or the address of a model from huggingface.co, or search. Its forms are shown, and a draft that goes with it is looked for.</source>
            <translation>粘贴 huggingface.co 上模型的名称或网址，或进行搜索。会显示它的各种格式，并查找与之匹配的草稿模型。</translation>
        </message>
        <message>
            <source>The Hub has nothing of that name. Check the spelling, or use fewer words.</source>
            <translation>Hub 上没有这个名称。请检查拼写，或减少搜索词。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <source>account needed</source>
            <translation>需要账号</translation>
        </message>
        <message>
            <source>owner/name, an address on huggingface.co, or words to search for</source>
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
            <source>Reading {} ended unexpectedly.</source>
            <translation>读取 {} 时意外中断。</translation>
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
            <source>highest {} s</source>
            <translation>最高 {} 秒</translation>
        </message>
    </context>
    <context>
        <name>KeyboardPage</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Keyboard</source>
            <translation>键盘快捷键</translation>
        </message>
    </context>
    <context>
        <name>LayerStrip</name>
        <message>
            <source>Layers of the pass under way</source>
            <translation>当前一遍的各层</translation>
        </message>
        <message>
            <source>layer {} of {}</source>
            <translation>第 {} / {} 层</translation>
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
            <source>Large models are shared between graphics card, memory and disk. How fast an answer comes depends on how much of each there is and how quickly the disk can be read.</source>
            <translation>大型模型分布在显卡、内存和磁盘上。回答的快慢取决于它们各有多少，以及磁盘读取有多快。</translation>
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
            <source>Measuring how fast the disk is; a few seconds. You can go on meanwhile.</source>
            <translation>正在测量磁盘速度，需要几秒钟。其间您可以继续。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>None that can compute</source>
            <translation>没有可用于计算的</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <source>The processor does all the work, more slowly.</source>
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
            <source>its speed is not measured yet</source>
            <translation>速度尚未测量</translation>
        </message>
        <message>
            <source>reads {} GB/s, measured</source>
            <translation>读取速度 {} GB/s，实测</translation>
        </message>
        <message>
            <source>takes in {} GB/s at most</source>
            <translation>接收速度最高 {} GB/s</translation>
        </message>
        <message>
            <source>takes in {} GB/s, measured</source>
            <translation>接收速度 {} GB/s，实测</translation>
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
            <source>{} of it free now</source>
            <translation>其中 {} 目前可用</translation>
        </message>
        <message>
            <source>{} of its own memory, {} free now</source>
            <translation>自有 {}，目前 {} 可用</translation>
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
            <source>RAM</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>SSD, read in each pass</source>
            <translation>SSD，每遍读取</translation>
        </message>
        <message>
            <source>The engine never held more than {} of RAM, its program included.</source>
            <translation>引擎占用的内存（含程序本身）从未超过 {}。</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>显存</translation>
        </message>
        <message>
            <source>draft's KV cache</source>
            <translation>草稿模型的 KV 缓存</translation>
        </message>
        <message>
            <source>draft's weights</source>
            <translation>草稿模型的权重</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>预测头</translation>
        </message>
        <message>
            <source>slots for streamed weights</source>
            <translation>流式权重的槽位</translation>
        </message>
        <message>
            <source>target's KV cache</source>
            <translation>目标模型的 KV 缓存</translation>
        </message>
        <message>
            <source>target's weights</source>
            <translation>目标模型的权重</translation>
        </message>
    </context>
    <context>
        <name>MessageActions</name>
        <message>
            <source>Again with the same seed</source>
            <translation>用相同的种子再来一次</translation>
        </message>
        <message>
            <source>Again with the same seed and settings, and with the recorded budgets. With the same models the text is the same: in float32 always, in other number formats because the budgets are replayed.</source>
            <translation>用相同的种子、设置和记录下来的预算再回答一次。模型相同则文字相同：在 float32 下总是如此，在其他数值格式下是因为预算被原样重放。</translation>
        </message>
        <message>
            <source>Answer again, with another seed</source>
            <translation>换一个种子重新回答</translation>
        </message>
        <message>
            <source>Begin a new chat from here</source>
            <translation>从此处开始新对话</translation>
        </message>
        <message>
            <source>Branch</source>
            <translation>分支</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Copy message</source>
            <translation>复制消息</translation>
        </message>
        <message>
            <source>Edit</source>
            <translation>编辑</translation>
        </message>
        <message>
            <source>Edit and send again</source>
            <translation>编辑并重新发送</translation>
        </message>
        <message>
            <source>Go on with this answer</source>
            <translation>接着写这个回答</translation>
        </message>
        <message>
            <source>Regenerate</source>
            <translation>重新生成</translation>
        </message>
        <message>
            <source>Same seed</source>
            <translation>相同种子</translation>
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
            <source>Change the message</source>
            <translation>修改消息</translation>
        </message>
        <message>
            <source>Ctrl+Enter. The version before stays.</source>
            <translation>Ctrl+Enter。原来的版本会保留。</translation>
        </message>
        <message>
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>发送</translation>
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Delete the model</source>
            <translation>删除模型</translation>
        </message>
        <message>
            <source>Delete {}?</source>
            <translation>要删除 {} 吗？</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>删除…</translation>
        </message>
        <message>
            <source>Folder for models</source>
            <translation>存放模型的文件夹</translation>
        </message>
        <message>
            <source>Folder of your models</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Models on this machine</source>
            <translation>本机上的模型</translation>
        </message>
        <message>
            <source>Move your models to another folder</source>
            <translation>把模型移到另一个文件夹</translation>
        </message>
        <message>
            <source>Move…</source>
            <translation>移动…</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>正在移动您的模型</translation>
        </message>
        <message>
            <source>None yet: a click on the model's name (Ctrl+M) leads to the downloads.</source>
            <translation>还没有模型：点击模型名称（Ctrl+M）即可前往下载。</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Open the folder of your models</source>
            <translation>打开模型文件夹</translation>
        </message>
        <message>
            <source>This frees {}.</source>
            <translation>将释放 {}。</translation>
        </message>
        <message>
            <source>{} models, {}</source>
            <translation>{} 个模型，{}</translation>
        </message>
        <message>
            <source>{} says where models lie.</source>
            <translation>{} 指定了模型的位置。</translation>
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
            <source>Problem: {}</source>
            <translation>问题：{}</translation>
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
            <source>A small model that guesses ahead, so that the large one answers sooner.</source>
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
            <source>Estimated for this machine. People read about 5 tokens a second.</source>
            <translation>针对本机的估计。人每秒约读 5 个词元。</translation>
        </message>
        <message>
            <source>Estimated, after a question of 1,000 tokens.</source>
            <translation>估计值，提问为 1,000 个词元。</translation>
        </message>
        <message>
            <source>First token</source>
            <translation>首个词元</translation>
        </message>
        <message>
            <source>Form</source>
            <translation>格式</translation>
        </message>
        <message>
            <source>How its numbers are stored: fewer bits, smaller download.</source>
            <translation>数值的存储方式：位数越少，下载越小。</translation>
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
            <source>As text</source>
            <translation>以文本显示</translation>
        </message>
        <message>
            <source>By who proposed each token; point at one for what else might have come</source>
            <translation>按每个词元的提出者着色；指向词元可看到其他候选</translation>
        </message>
        <message>
            <source>Colour the answer</source>
            <translation>为回答着色</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Token tree and figures</source>
            <translation>词元树与数据</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>树</translation>
        </message>
        <message>
            <source>Why this fast</source>
            <translation>速度的原因</translation>
        </message>
    </context>
    <context>
        <name>PastedText</name>
        <message>
            <source>Pasted: “{}…”, {} characters</source>
            <translation>已粘贴：“{}…”，{} 个字符</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Remove the pasted text</source>
            <translation>移除粘贴的文本</translation>
        </message>
    </context>
    <context>
        <name>Picker</name>
        <message>
            <source>As it is set now</source>
            <translation>按当前设置</translation>
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
            <source>Give its memory back</source>
            <translation>释放它占用的内存</translation>
        </message>
        <message>
            <source>Load again</source>
            <translation>重新加载</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Models (*.gguf config.json)</source>
            <translation>模型 (*.gguf config.json)</translation>
        </message>
        <message>
            <source>None yet: download one, or open a file.</source>
            <translation>还没有模型：请下载一个，或打开文件。</translation>
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
            <source>Open model</source>
            <translation>打开模型</translation>
        </message>
        <message>
            <source>Recent</source>
            <translation>最近使用</translation>
        </message>
        <message>
            <source>The model that comes with the program</source>
            <translation>程序自带的模型</translation>
        </message>
        <message>
            <source>Unload</source>
            <translation>卸载</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>草稿模型 {}</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>with the best draft here</source>
            <translation>配本机最佳草稿模型</translation>
        </message>
    </context>
    <context>
        <name>Plans</name>
        <message>
            <source>about {} tokens/s</source>
            <translation>约 {} 词元/秒</translation>
        </message>
        <message>
            <source>fits RAM</source>
            <translation>内存可容纳</translation>
        </message>
        <message>
            <source>fits VRAM</source>
            <translation>显存可容纳</translation>
        </message>
        <message>
            <source>in VRAM and RAM</source>
            <translation>分布于显存和内存</translation>
        </message>
        <message>
            <source>streamed from the disk</source>
            <translation>从磁盘流式读取</translation>
        </message>
        <message>
            <source>too large for this machine</source>
            <translation>超出本机能力</translation>
        </message>
    </context>
    <context>
        <name>PresetsPage</name>
        <message>
            <source>A preset keeps a chat's settings under a name, to use them again elsewhere.</source>
            <translation>预设将对话的设置以名称保存，以便在别处再次使用。</translation>
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
            <source>Name of the preset</source>
            <translation>预设名称</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <source>Save preset</source>
            <translation>保存预设</translation>
        </message>
        <message>
            <source>Save this chat's…</source>
            <translation>保存此对话的设置…</translation>
        </message>
        <message>
            <source>There is a preset called {}. Replace it?</source>
            <translation>已有名为 {} 的预设。要替换吗？</translation>
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
            <source>{} cannot be written: {}</source>
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
            <source>Go on</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Not begun</source>
            <translation>尚未开始</translation>
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
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>The {} that are already here are deleted.</source>
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
        <name>QuestionView</name>
        <message>
            <source>The first {} of {} characters are shown; all were sent.</source>
            <translation>仅显示前 {} 个字符（共 {} 个），已全部发送。</translation>
        </message>
        <message>
            <source>Your message</source>
            <translation>您的消息</translation>
        </message>
    </context>
    <context>
        <name>ReadyPage</name>
        <message>
            <source>Every byte arrived as its authors published it: its checksums were compared. Loading takes a few seconds to a few minutes; then you can chat, also without the Internet.</source>
            <translation>每个字节都与作者发布的一致：校验和已比对。加载需要几秒到几分钟，之后即可对话，无需联网。</translation>
        </message>
        <message>
            <source>It is ready</source>
            <translation>已就绪</translation>
        </message>
        <message>
            <source>Load it now</source>
            <translation>立即加载</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
    </context>
    <context>
        <name>Recommended</name>
        <message>
            <source>Recommended for this machine</source>
            <translation>为本机推荐</translation>
        </message>
        <message>
            <source>Take the recommended model, {}</source>
            <translation>选择推荐的模型，{}</translation>
        </message>
        <message>
            <source>Take this one</source>
            <translation>选择这个</translation>
        </message>
        <message>
            <source>already on this machine</source>
            <translation>本机已有</translation>
        </message>
        <message>
            <source>{} to download</source>
            <translation>需下载 {}</translation>
        </message>
    </context>
    <context>
        <name>Reports</name>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Load again</source>
            <translation>重新加载</translation>
        </message>
        <message>
            <source>Open its log</source>
            <translation>打开日志</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>重启引擎</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
    </context>
    <context>
        <name>RepositoryView</name>
        <message>
            <source>Checking whether {} fits…</source>
            <translation>正在检查 {} 是否匹配…</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>Forms of this model</source>
            <translation>此模型的格式</translation>
        </message>
        <message>
            <source>How fast it is, shows when it is loaded: the list does not have this pair.</source>
            <translation>加载后才能知道速度：列表中没有这一组合。</translation>
        </message>
        <message>
            <source>No draft</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>No draft for it is known. Without one it answers all the same, only slower.</source>
            <translation>没有已知的草稿模型。没有它也能回答，只是更慢。</translation>
        </message>
        <message>
            <source>Whether the draft fits could not be checked: {}</source>
            <translation>无法检查草稿模型是否匹配：{}</translation>
        </message>
        <message>
            <source>Without a draft it answers all the same, only slower.</source>
            <translation>没有草稿模型也能回答，只是更慢。</translation>
        </message>
        <message>
            <source>account needed</source>
            <translation>需要账号</translation>
        </message>
        <message>
            <source>as its authors published it</source>
            <translation>按作者发布的原样</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>在本机</translation>
        </message>
    </context>
    <context>
        <name>Row</name>
        <message>
            <source>Not in use: {}</source>
            <translation>未生效：{}</translation>
        </message>
        <message>
            <source>Set back</source>
            <translation>恢复</translation>
        </message>
        <message>
            <source>Set back: {}</source>
            <translation>恢复：{}</translation>
        </message>
        <message>
            <source>{} Counts when the model is loaded again.</source>
            <translation>{}重新加载模型时生效。</translation>
        </message>
    </context>
    <context>
        <name>RunPage</name>
        <message>
            <source>Copy the table</source>
            <translation>复制表格</translation>
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
            <source>waited, s</source>
            <translation>等待，秒</translation>
        </message>
    </context>
    <context>
        <name>SearchPalette</name>
        <message>
            <source>Search all chats</source>
            <translation>搜索所有对话</translation>
        </message>
        <message>
            <source>The arrow keys move through what is found; Enter opens it.</source>
            <translation>用方向键在结果间移动，按 Enter 打开。</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>搜索结果</translation>
        </message>
        <message>
            <source>↑ ↓ choose     Enter opens     Esc closes</source>
            <translation>↑ ↓ 选择     Enter 打开     Esc 关闭</translation>
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
            <source>Load the model again now</source>
            <translation>立即重新加载模型</translation>
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
            <source>Set all back</source>
            <translation>全部恢复</translation>
        </message>
        <message>
            <source>Set all back to those of new chats</source>
            <translation>全部恢复为新对话的设置</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>This chat</source>
            <translation>此对话</translation>
        </message>
    </context>
    <context>
        <name>SetupPage</name>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>引擎</translation>
        </message>
        <message>
            <source>Set it up</source>
            <translation>安装</translation>
        </message>
        <message>
            <source>Set it up ({})</source>
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
            <source>The engine is ready. A small model came with this program: close this window and chat, or choose a larger one.</source>
            <translation>引擎已就绪。本程序自带一个小模型：您可以关闭此窗口开始对话，也可以选择更大的模型。</translation>
        </message>
        <message>
            <source>What computes the answers depends on this machine, so it is fetched now, once: PyTorch and what belongs to it. You may close this window meanwhile.</source>
            <translation>计算回答的部分取决于这台电脑，因此现在获取一次：PyTorch 及其附属软件包。其间您可以关闭此窗口。</translation>
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
            <source>Runtime file, or the first of its parts</source>
            <translation>运行时文件，或其第一个分卷</translation>
        </message>
        <message>
            <source>Runtime files (*.zip *.zip.001)</source>
            <translation>运行时文件 (*.zip *.zip.001)</translation>
        </message>
        <message>
            <source>Set up from a runtime file, without a network</source>
            <translation>不用网络，从运行时文件安装</translation>
        </message>
        <message>
            <source>{} are needed, and only {} are free: make room first.</source>
            <translation>需要 {}，但只剩 {}：请先腾出空间。</translation>
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>Open the folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <source>Saved as {}</source>
            <translation>已保存为 {}</translation>
        </message>
        <message>
            <source>Your chats will be listed here.

Chats from ChatGPT can be imported: see “⋯” above.</source>
            <translation>您的对话会列在这里。

可以导入 ChatGPT 的对话：见上方的“⋯”。</translation>
        </message>
    </context>
    <context>
        <name>SourcesView</name>
        <message>
            <source>Every package is compared with the checksum that this program came with, wherever it comes from.</source>
            <translation>无论软件包来自何处，都会与本程序自带的校验和进行比对。</translation>
        </message>
        <message>
            <source>It begins with {}.</source>
            <translation>地址以 {} 开头。</translation>
        </message>
        <message>
            <source>Mirror of PyTorch's index</source>
            <translation>PyTorch 索引的镜像</translation>
        </message>
        <message>
            <source>Mirror of the package index</source>
            <translation>软件包索引的镜像</translation>
        </message>
        <message>
            <source>Proxy</source>
            <translation>代理</translation>
        </message>
        <message>
            <source>{}: “{}” is no address.</source>
            <translation>{}：“{}”不是地址。</translation>
        </message>
    </context>
    <context>
        <name>SpeedPage</name>
        <message>
            <source>A short answer without a draft: {} tokens. It is kept.</source>
            <translation>不用草稿模型的简短回答：{} 个词元。结果会保存。</translation>
        </message>
        <message>
            <source>Measure plain decoding here</source>
            <translation>在本机测量普通解码</translation>
        </message>
        <message>
            <source>Measuring plain decoding…</source>
            <translation>正在测量普通解码…</translation>
        </message>
        <message>
            <source>When an answer is whole, this page says why it was as fast as it was.</source>
            <translation>回答完成后，此页会说明速度的原因。</translation>
        </message>
        <message>
            <source>Why this fast</source>
            <translation>速度的原因</translation>
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
            <source>now {} tokens/s, on the whole {} tokens/s</source>
            <translation>当前 {} 词元/秒，总体 {} 词元/秒</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>whole answer</source>
            <translation>整个回答</translation>
        </message>
    </context>
    <context>
        <name>SplitBar</name>
        <message>
            <source>Where the time went</source>
            <translation>时间都用在哪里</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>草稿模型</translation>
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
            <source>drafter {}</source>
            <translation>起草方法 {}</translation>
        </message>
        <message>
            <source>drafter {}, budget {}</source>
            <translation>起草方法 {}，预算 {}</translation>
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
            <source>Answering…</source>
            <translation>正在回答…</translation>
        </message>
        <message>
            <source>Iteration {}</source>
            <translation>第 {} 轮迭代</translation>
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
            <source>at most {} more</source>
            <translation>最多还需 {}</translation>
        </message>
        <message>
            <source>drafting, {} nodes</source>
            <translation>起草中，{} 个节点</translation>
        </message>
        <message>
            <source>usually about {} more</source>
            <translation>通常约还需 {}</translation>
        </message>
        <message>
            <source>verifying, layer {} of {}</source>
            <translation>验证中，第 {} / {} 层</translation>
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
            <source>● Ready</source>
            <translation>● 就绪</translation>
        </message>
        <message>
            <source>✕ No model is loaded</source>
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
            <source>held: {} of {}</source>
            <translation>已停住：{} / {}</translation>
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
        <name>ThoughtView</name>
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
            <source>folded</source>
            <translation>已折叠</translation>
        </message>
        <message>
            <source>unfolded</source>
            <translation>已展开</translation>
        </message>
    </context>
    <context>
        <name>TimePage</name>
        <message>
            <source>All weights are in memory: nothing is streamed.</source>
            <translation>所有权重都在内存中：无需流式读取。</translation>
        </message>
        <message>
            <source>Layers of the pass under way</source>
            <translation>当前一遍的各层</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>每轮迭代的秒数</translation>
        </message>
        <message>
            <source>Tokens accepted, how often</source>
            <translation>接受的词元数及次数</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>词元/秒</translation>
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
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>Show the window</source>
            <translation>显示窗口</translation>
        </message>
        <message>
            <source>The answer is complete</source>
            <translation>回答已完成</translation>
        </message>
    </context>
    <context>
        <name>TreeLegend</name>
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
            <source>rejected</source>
            <translation>已拒绝</translation>
        </message>
    </context>
    <context>
        <name>TreePage</name>
        <message>
            <source>It gave the answer: “{}”</source>
            <translation>它为回答贡献了：“{}”</translation>
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
            <source>Point at a token, or walk to it by arrow keys.</source>
            <translation>指向一个词元，或用方向键移动到它。</translation>
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
        <name>UpdateNotice</name>
        <message>
            <source>Newer version: {}</source>
            <translation>新版本：{}</translation>
        </message>
        <message>
            <source>There is a newer version of this program. Read about it</source>
            <translation>本程序有新版本。查看详情</translation>
        </message>
        <message>
            <source>Version {}</source>
            <translation>版本 {}</translation>
        </message>
    </context>
    <context>
        <name>WaitingList</name>
        <message>
            <source>Do not ask this</source>
            <translation>不再提问</translation>
        </message>
        <message>
            <source>Next: {}</source>
            <translation>接下来：{}</translation>
        </message>
        <message>
            <source>Questions that wait</source>
            <translation>等待中的问题</translation>
        </message>
    </context>
    <context>
        <name>WherePage</name>
        <message>
            <source>Asking the Hub…</source>
            <translation>正在查询 Hub…</translation>
        </message>
        <message>
            <source>Change folder…</source>
            <translation>更改文件夹…</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Folder for models</source>
            <translation>存放模型的文件夹</translation>
        </message>
        <message>
            <source>Folder of your models</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <source>Move them</source>
            <translation>移动</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>正在移动您的模型</translation>
        </message>
        <message>
            <source>The disk may be slow: models run best from an SSD inside this machine.</source>
            <translation>磁盘可能较慢：模型放在本机的 SSD 上运行效果最好。</translation>
        </message>
        <message>
            <source>The models you have ({}) move to {}.</source>
            <translation>您已有的模型（{}）将移到 {}。</translation>
        </message>
        <message>
            <source>Too little room: {} are needed, and {} are free. Make room and come back to this page, choose a folder on another disk, or a smaller model.</source>
            <translation>空间不足：需要 {}，可用 {}。请腾出空间后回到此页，或选择其他磁盘上的文件夹，或更小的模型。</translation>
        </message>
        <message>
            <source>What will be downloaded</source>
            <translation>将要下载的内容</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>位置</translation>
        </message>
        <message>
            <source>Where it will be kept</source>
            <translation>保存位置</translation>
        </message>
        <message>
            <source>{} are free, {} are needed.</source>
            <translation>可用 {}，需要 {}。</translation>
        </message>
        <message>
            <source>{} says where models lie.</source>
            <translation>{} 指定了模型的位置。</translation>
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
        <name>_Table</name>
        <message>
            <source>Models of the catalogue</source>
            <translation>目录中的模型</translation>
        </message>
    </context>
    <context>
        <name>_Versions</name>
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
        <name>chat_options</name>
        <message>
            <source>Above 1: tokens that were there before become less likely.</source>
            <translation>大于 1：出现过的词元更不易再出现。</translation>
        </message>
        <message>
            <source>Added to the logits of tokens. On each line: the token's id, a colon, -1000 to 1000.</source>
            <translation>加到词元的 logit 上。每行一个：词元 ID、冒号、-1000 到 1000。</translation>
        </message>
        <message>
            <source>An answer ends after this many tokens at the latest.</source>
            <translation>回答最多有这么多词元。</translation>
        </message>
        <message>
            <source>An answer ends before the first of these. One on each line; \n: a line break.</source>
            <translation>回答在其中最先出现的字符串之前结束。每行一个；\n：换行。</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <source>Beams</source>
            <translation>束数</translation>
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
            <source>Frequency penalty</source>
            <translation>频率惩罚</translation>
        </message>
        <message>
            <source>How deep a token tree may grow.</source>
            <translation>词元树最多可以长多深。</translation>
        </message>
        <message>
            <source>How freely tokens are chosen. 0: always the likeliest one.</source>
            <translation>选择词元的自由程度。0：始终选最可能的词元。</translation>
        </message>
        <message>
            <source>Keep how likely each token was, and this many other tokens beside it.</source>
            <translation>保留每个词元的概率，以及另外这么多个候选词元。</translation>
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
            <source>Longest answer</source>
            <translation>回答长度上限</translation>
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
            <source>Most nodes in a token tree. auto: what is fastest here, found while it answers.</source>
            <translation>词元树的最多节点数。自动：在回答过程中找出本机最快的值。</translation>
        </message>
        <message>
            <source>Most tokens of the prompt and the answer together. More takes more memory.</source>
            <translation>提示词与回答合计的最多词元数。越大占用内存越多。</translation>
        </message>
        <message>
            <source>No token less likely than this part of the likeliest one.</source>
            <translation>排除概率低于最可能词元的这一比例的词元。</translation>
        </message>
        <message>
            <source>Nodes the draft expands in each round.</source>
            <translation>草稿模型每一轮扩展的节点数。</translation>
        </message>
        <message>
            <source>Only the likeliest tokens that together have this probability. 1: all.</source>
            <translation>只取概率之和达到此值的最可能词元。1：全部。</translation>
        </message>
        <message>
            <source>Only this many of the likeliest tokens.</source>
            <translation>只取这么多个最可能的词元。</translation>
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
            <source>Said to the model before everything else: who it is and how it answers.</source>
            <translation>最先告诉模型的话：它是谁、如何回答。</translation>
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
            <source>Stop strings</source>
            <translation>停止字符串</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>系统提示词</translation>
        </message>
        <message>
            <source>Taken off the logit of a token for each time it is in the answer already.</source>
            <translation>词元在回答中每出现过一次，就从其 logit 中减去一次。</translation>
        </message>
        <message>
            <source>Taken off the logit of each token that is in the answer already, once.</source>
            <translation>从回答中已出现的每个词元的 logit 中减去一次。</translation>
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
            <source>The method that proposes tokens. It changes the speed, not what the target would say.</source>
            <translation>提出词元的方法。它改变速度，不改变目标模型要说的内容。</translation>
        </message>
        <message>
            <source>The model that answers.</source>
            <translation>负责回答的模型。</translation>
        </message>
        <message>
            <source>The model that guesses ahead. It must number tokens as the target does.</source>
            <translation>提前猜测的模型。它的词元编号必须与目标模型一致。</translation>
        </message>
        <message>
            <source>The same seed with the same settings gives the same text in float32. Empty: a new one.</source>
            <translation>在 float32 下，种子和设置相同则文本相同。留空：每次使用新种子。</translation>
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
            <source>auto</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>the best one here</source>
            <translation>本机最佳的</translation>
        </message>
        <message>
            <source>the one that comes with the program</source>
            <translation>程序自带的模型</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>until the model ends</source>
            <translation>直到模型结束</translation>
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
            <source>Get PyTorch</source>
            <translation>获取 PyTorch</translation>
        </message>
        <message>
            <source>Get the packages</source>
            <translation>获取软件包</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>NVIDIA graphics card (CUDA)</source>
            <translation>NVIDIA 显卡（CUDA）</translation>
        </message>
        <message>
            <source>None that can compute</source>
            <translation>没有可用于计算的</translation>
        </message>
        <message>
            <source>Processor (CPU)</source>
            <translation>处理器（CPU）</translation>
        </message>
        <message>
            <source>Switch to it</source>
            <translation>切换到新引擎</translation>
        </message>
        <message>
            <source>Try it out: one product, one token</source>
            <translation>试运行：一次乘法，一个词元</translation>
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
            <source>{} to download, {} on the disk</source>
            <translation>下载 {}，占用磁盘 {}</translation>
        </message>
    </context>
    <context>
        <name>files</name>
        <message>
            <source>All files (*)</source>
            <translation>所有文件 (*)</translation>
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
            <source>Import chats exported here or from ChatGPT</source>
            <translation>导入从本程序或 ChatGPT 导出的对话</translation>
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
        <name>headings</name>
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
        <name>import_bar</name>
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
            <source>The rest of the file was imported. What could not be read:</source>
            <translation>文件的其余部分已导入。无法读取的内容：</translation>
        </message>
        <message>
            <source>{} could not be read</source>
            <translation>{} 个无法读取</translation>
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
            <source>heads</source>
            <translation>预测头</translation>
        </message>
        <message>
            <source>slots of streamed layers</source>
            <translation>流式层的槽位</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标模型</translation>
        </message>
        <message>
            <source>the draft's KV cache</source>
            <translation>草稿模型的 KV 缓存</translation>
        </message>
        <message>
            <source>the target's KV cache</source>
            <translation>目标模型的 KV 缓存</translation>
        </message>
        <message>
            <source>{} read from the disk in each pass</source>
            <translation>每遍从磁盘读取 {}</translation>
        </message>
    </context>
    <context>
        <name>node_words</name>
        <message>
            <source>Accepted.</source>
            <translation>已接受。</translation>
        </message>
        <message>
            <source>Draft {}, target {}, its rank {}.</source>
            <translation>草稿模型 {}，目标模型 {}，其排名第 {}。</translation>
        </message>
        <message>
            <source>Draft {}.</source>
            <translation>草稿模型 {}。</translation>
        </message>
        <message>
            <source>Not judged yet.</source>
            <translation>尚未判定。</translation>
        </message>
        <message>
            <source>Rejected: its parent was.</source>
            <translation>已拒绝：其父节点被拒绝。</translation>
        </message>
        <message>
            <source>Rejected: the answer ended before it.</source>
            <translation>已拒绝：回答在此之前已结束。</translation>
        </message>
        <message>
            <source>Rejected: the target went on with “{}”.</source>
            <translation>已拒绝：目标模型接着写的是“{}”。</translation>
        </message>
        <message>
            <source>The target's own, for the work of checking was done.</source>
            <translation>目标模型自己的词元，检查时顺带得到。</translation>
        </message>
        <message>
            <source>The target's own, {} probable to it.</source>
            <translation>目标模型自己的词元，其概率为 {}。</translation>
        </message>
        <message>
            <source>less than 0.1 %</source>
            <translation>小于 0.1%</translation>
        </message>
        <message>
            <source>nobody</source>
            <translation>无</translation>
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
            <source>“{}”: the last token of the text so far; the tree grows from it.</source>
            <translation>“{}”：目前文本的最后一个词元，树从这里生长。</translation>
        </message>
    </context>
    <context>
        <name>program_options</name>
        <message>
            <source>Appearance and language</source>
            <translation>外观与语言</translation>
        </message>
        <message>
            <source>Ask GitHub once a day whether there is a newer version, and say so. Nothing is downloaded.</source>
            <translation>每天向 GitHub 询问一次是否有新版本，有则告知。不会下载任何内容。</translation>
        </message>
        <message>
            <source>Compute device</source>
            <translation>计算设备</translation>
        </message>
        <message>
            <source>Computing</source>
            <translation>计算</translation>
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
            <source>GiB</source>
            <translation>GiB</translation>
        </message>
        <message>
            <source>Habits</source>
            <translation>使用习惯</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <source>Less motion</source>
            <translation>减少动态效果</translation>
        </message>
        <message>
            <source>Light or dark.</source>
            <translation>浅色或深色。</translation>
        </message>
        <message>
            <source>Memory limits</source>
            <translation>内存限制</translation>
        </message>
        <message>
            <source>New versions</source>
            <translation>新版本</translation>
        </message>
        <message>
            <source>Nothing glides or fades; the token tree shows each iteration's end only.</source>
            <translation>不滑动、不淡入淡出；词元树只显示每轮迭代的结果。</translation>
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
            <source>Of the window. Models answer in the language you write in.</source>
            <translation>窗口的语言。模型会用您书写的语言回答。</translation>
        </message>
        <message>
            <source>RAM for the target</source>
            <translation>目标模型的内存</translation>
        </message>
        <message>
            <source>Say when a long answer is complete and the window is not in front.</source>
            <translation>较长的回答完成且窗口不在前台时提醒。</translation>
        </message>
        <message>
            <source>Send with</source>
            <translation>发送键</translation>
        </message>
        <message>
            <source>The other one begins a new line.</source>
            <translation>另一个用于换行。</translation>
        </message>
        <message>
            <source>The target's weights take no more RAM; the rest is streamed from the disk.</source>
            <translation>目标模型的权重不会占用更多内存，其余从磁盘流式读取。</translation>
        </message>
        <message>
            <source>The target's weights take no more of it; the rest is streamed from RAM.</source>
            <translation>目标模型的权重不会占用更多显存，其余从内存流式读取。</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>Unpacked weights are faster and take more memory.</source>
            <translation>解包的权重更快，但占用更多内存。</translation>
        </message>
        <message>
            <source>VRAM for the target</source>
            <translation>目标模型的显存</translation>
        </message>
        <message>
            <source>Weights in memory</source>
            <translation>内存中的权重</translation>
        </message>
        <message>
            <source>Where matrix products run.</source>
            <translation>执行矩阵乘法的地方。</translation>
        </message>
        <message>
            <source>as stored</source>
            <translation>按存储格式</translation>
        </message>
        <message>
            <source>as the desktop is</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>auto</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>float32 is the most exact and the slowest.</source>
            <translation>float32 最精确，也最慢。</translation>
        </message>
        <message>
            <source>graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <source>light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>no limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <source>unpacked</source>
            <translation>已解包</translation>
        </message>
    </context>
    <context>
        <name>run_words</name>
        <message>
            <source>Computing the target took the most time: this device is the limit.</source>
            <translation>目标模型的计算用时最多：瓶颈在此设备。</translation>
        </message>
        <message>
            <source>Drafting took the most time: a smaller budget or a smaller draft may be faster.</source>
            <translation>起草用时最多：减小预算或换用更小的草稿模型也许更快。</translation>
        </message>
        <message>
            <source>How much faster than plain decoding is not said before that was measured here.</source>
            <translation>比普通解码快多少，要在本机测量之后才能说。</translation>
        </message>
        <message>
            <source>One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting, {} s for the rest.</source>
            <translation>一轮迭代用时 {} 秒：起草 {} 秒，目标模型计算 {} 秒，等待 {} 秒，其余 {} 秒。</translation>
        </message>
        <message>
            <source>One pass of the target gave {} tokens on average, because it checks a whole tree of guesses at once; plain decoding gets 1 from each.</source>
            <translation>目标模型一遍检查整棵猜测树，因此平均每遍得到 {} 个词元；普通解码每遍只得到 1 个。</translation>
        </message>
        <message>
            <source>PCIe</source>
            <translation>PCIe</translation>
        </message>
        <message>
            <source>Plain decoding was measured here with this model: {} tokens/s. This answer was {} times as fast.</source>
            <translation>本机测得此模型的普通解码速度：{} 词元/秒。此回答的速度是它的 {} 倍。</translation>
        </message>
        <message>
            <source>The answer was too short to say how fast it was.</source>
            <translation>回答太短，无法判断速度。</translation>
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
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
        <message>
            <source>{} tokens per pass ÷ {} s = {} tokens/s.</source>
            <translation>每遍 {} 个词元 ÷ {} 秒 = {} 词元/秒。</translation>
        </message>
        <message>
            <source>{}: {} GB/s (its limit was not measured: run specexec doctor)</source>
            <translation>{}：{} GB/s（上限未测量：请运行 specexec doctor）</translation>
        </message>
        <message>
            <source>{}: {} of {} GB/s</source>
            <translation>{}：{} / {} GB/s</translation>
        </message>
    </context>
    <context>
        <name>shortcuts</name>
        <message>
            <source>Answer the last question anew</source>
            <translation>重新回答最后一个问题</translation>
        </message>
        <message>
            <source>Begin a new chat</source>
            <translation>开始新对话</translation>
        </message>
        <message>
            <source>Begin a new line</source>
            <translation>换行</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation>复制最后一个回答</translation>
        </message>
        <message>
            <source>Delete the chat or the folder</source>
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
            <source>Export the chat or the folder</source>
            <translation>导出对话或文件夹</translation>
        </message>
        <message>
            <source>Go to the list of chats</source>
            <translation>转到对话列表</translation>
        </message>
        <message>
            <source>Go to where the question is written</source>
            <translation>转到问题输入框</translation>
        </message>
        <message>
            <source>Pin the chat, or unpin it</source>
            <translation>固定或取消固定对话</translation>
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
            <source>Rename the chat or the folder</source>
            <translation>重命名对话或文件夹</translation>
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
            <source>Show or hide the list of chats</source>
            <translation>显示或隐藏对话列表</translation>
        </message>
        <message>
            <source>Show or hide the token tree</source>
            <translation>显示或隐藏词元树</translation>
        </message>
        <message>
            <source>Stop the answer; what was written stays</source>
            <translation>停止回答；已写的内容保留</translation>
        </message>
        <message>
            <source>The chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <source>The chat above in the list</source>
            <translation>列表中的上一个对话</translation>
        </message>
        <message>
            <source>The chat below in the list</source>
            <translation>列表中的下一个对话</translation>
        </message>
        <message>
            <source>The list of chats</source>
            <translation>对话列表</translation>
        </message>
        <message>
            <source>The question</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>The version after</source>
            <translation>下一版本</translation>
        </message>
        <message>
            <source>The version before</source>
            <translation>上一版本</translation>
        </message>
        <message>
            <source>The window</source>
            <translation>窗口</translation>
        </message>
        <message>
            <source>This list of keys</source>
            <translation>此快捷键列表</translation>
        </message>
        <message>
            <source>Undo what was done last</source>
            <translation>撤销上一步操作</translation>
        </message>
    </context>
    <context>
        <name>sources</name>
        <message>
            <source>draft model</source>
            <translation>草稿模型</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>预测头</translation>
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
    </context>
    <context>
        <name>startup</name>
        <message>
            <source>Something went wrong in the window.</source>
            <translation>窗口出了问题。</translation>
        </message>
        <message>
            <source>You can go on. If it happens again, its log helps: {}</source>
            <translation>您可以继续使用。如果再次发生，日志会有帮助：{}</translation>
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
        <name>wizard</name>
        <message>
            <source>About {} tokens/s, estimated</source>
            <translation>约 {} 词元/秒，估计</translation>
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
            <source>It fits into memory.</source>
            <translation>内存可以容纳。</translation>
        </message>
        <message>
            <source>It fits on the graphics card.</source>
            <translation>显卡可以容纳。</translation>
        </message>
        <message>
            <source>It is larger than memory: a part of it is read from the disk again and again.</source>
            <translation>它大于内存：一部分要反复从磁盘读取。</translation>
        </message>
        <message>
            <source>It is shared between graphics card and memory.</source>
            <translation>分布在显卡和内存上。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Streams from disk</source>
            <translation>从磁盘流式读取</translation>
        </message>
        <message>
            <source>The first word comes after about {} of reading a long question.</source>
            <translation>读完长问题约需 {}，之后出现第一个字。</translation>
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
            <source>see its page</source>
            <translation>见其页面</translation>
        </message>
        <message>
            <source>slow: about {} for a short answer</source>
            <translation>较慢：简短的回答约需 {}</translation>
        </message>
        <message>
            <source>slower than you read, but fit for a conversation</source>
            <translation>慢于您的阅读速度，但足以对话</translation>
        </message>
        <message>
            <source>{} + draft {}</source>
            <translation>{} + 草稿模型 {}</translation>
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
            <source>{} min</source>
            <translation>{} 分钟</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{} 秒</translation>
        </message>
        <message>
            <source>{} · account needed</source>
            <translation>{} · 需要账号</translation>
        </message>
    </context>
    <context>
        <name>words</name>
        <message>
            <source>1 token</source>
            <translation>1 个词元</translation>
        </message>
        <message>
            <source>Loading the draft</source>
            <translation>正在加载草稿模型</translation>
        </message>
        <message>
            <source>Loading the target</source>
            <translation>正在加载目标模型</translation>
        </message>
        <message>
            <source>Preparing the weight formats</source>
            <translation>正在准备权重格式</translation>
        </message>
        <message>
            <source>Reading the model's files</source>
            <translation>正在读取模型文件</translation>
        </message>
        <message>
            <source>Reading the tokenizer</source>
            <translation>正在读取分词器</translation>
        </message>
        <message>
            <source>Starting the libraries</source>
            <translation>正在启动运行库</translation>
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
            <source>first token after {} s</source>
            <translation>首个词元用时 {} 秒</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>无草稿模型</translation>
        </message>
        <message>
            <source>not completed</source>
            <translation>未完成</translation>
        </message>
        <message>
            <source>seed {}</source>
            <translation>种子 {}</translation>
        </message>
        <message>
            <source>stopped by you</source>
            <translation>已由您停止</translation>
        </message>
        <message>
            <source>the context is full: start a new chat (Ctrl+N) to go on</source>
            <translation>上下文已满：请开始新对话 (Ctrl+N) 以继续</translation>
        </message>
        <message>
            <source>{} tokens</source>
            <translation>{} 个词元</translation>
        </message>
        <message>
            <source>{} tokens per pass</source>
            <translation>每遍 {} 个词元</translation>
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
            <source>{}: layer {} of {}, {} of {}</source>
            <translation>{}：第 {} 层，共 {} 层，{} / {}</translation>
        </message>
        <message>
            <source>{}: {} of {}</source>
            <translation>{}：{} / {}</translation>
        </message>
    </context>
</TS>
